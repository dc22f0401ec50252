import Crypto
public import Foundation
import SwiftASN1
import X509

/// Everything the simulator proves itself with: a TLS server certificate under a certificate authority of its own, and
/// two chains that sign as Apple's do, one for receipts and one for signed data (StoreKit 2's transactions and what the
/// App Store Server API answers).
///
/// The private keys of the authorities are thrown away once the certificates are made; only the server's and the two
/// signers' remain. Nothing here chains to a real root, so what it signs is worth nothing elsewhere.
public struct SimulatorAuthority: Sendable {
    /// How receipts are signed. Signed data is always ES256, as Apple's is.
    public enum ReceiptAlgorithm: String, Sendable, CaseIterable {
        /// P-256 with SHA-256: about thirty times as fast to sign.
        case ecdsa
        /// RSA, 2048 bits, PKCS #1 v1.5 with SHA-256: what the App Store uses since 2023-08-16.
        case rsa
    }

    /// The TLS authority's certificate.
    let serverRoot: Certificate
    let server: Certificate
    let serverKey: Certificate.PrivateKey
    let receiptChain: SigningChain
    let receiptKey: Certificate.PrivateKey
    /// Of Apple's shape: root and intermediate P-384 with SHA-384, the leaf P-256.
    let signedDataChain: SigningChain
    let signedDataKey: P256.Signing.PrivateKey

    /// Draws new keys and makes all three chains.
    ///
    /// - Parameters:
    ///   - receipts: How receipts are to be signed.
    ///   - now: The certificates are valid until ten years later.
    /// - Throws: ``AuthorityError/certificateRefused`` when a certificate cannot be made.
    public init(receipts: ReceiptAlgorithm = .ecdsa, now: Date) throws(AuthorityError) {
        do {
            let factory = CertificateFactory(notValidAfter: now + 10 * 365 * 86_400)
            let root = try factory.issuer(named: "App Store Simulator TLS Root", key: factory.key(.ecdsa))
            let serverKey = try factory.key(.ecdsa)
            let receiptKey = try factory.key(receipts)
            let signedDataKey = P256.Signing.PrivateKey()
            self.init(
                serverRoot: try factory.root(root),
                server: try factory.server(for: serverKey.publicKey, issuer: root), serverKey: serverKey,
                receiptChain: try factory.signingChain("Receipt", for: receiptKey.publicKey) {
                    try factory.key(.ecdsa)
                },
                receiptKey: receiptKey,
                signedDataChain: try factory.signingChain("Signed Data", for: .init(signedDataKey.publicKey)) {
                    Certificate.PrivateKey(P384.Signing.PrivateKey())
                },
                signedDataKey: signedDataKey)
        } catch {
            throw .certificateRefused(ErrorWords.of(error))
        }
    }

    init(
        serverRoot: Certificate, server: Certificate, serverKey: Certificate.PrivateKey, receiptChain: SigningChain,
        receiptKey: Certificate.PrivateKey, signedDataChain: SigningChain, signedDataKey: P256.Signing.PrivateKey
    ) {
        self.serverRoot = serverRoot
        self.server = server
        self.serverKey = serverKey
        self.receiptChain = receiptChain
        self.receiptKey = receiptKey
        self.signedDataChain = signedDataChain
        self.signedDataKey = signedDataKey
    }

    /// The TLS authority's certificate, PEM: what a client trusts to reach the simulator.
    public var serverRootPEM: String {
        get throws(AuthorityError) { try Self.pem(serverRoot) }
    }

    /// The root of the chain that signs receipts, PEM: what a local validation of receipts trusts.
    public var receiptRootPEM: String {
        get throws(AuthorityError) { try Self.pem(receiptChain.root) }
    }

    /// The root of the chain that signs transactions, PEM: what their verification trusts.
    public var signedDataRootPEM: String {
        get throws(AuthorityError) { try Self.pem(signedDataChain.root) }
    }

    /// Both roots that evidence is verified against, one PEM text: the receipts' and the signed data's. It is what
    /// `GRANTOR_APPLE_ROOT_CERTIFICATES` takes.
    public var rootsPEM: String {
        get throws(AuthorityError) { try receiptRootPEM + signedDataRootPEM }
    }

    static func pem(_ certificate: Certificate) throws(AuthorityError) -> String {
        do {
            return try certificate.serializeAsPEM().pemString + "\n"
        } catch {
            throw .certificateRefused(ErrorWords.of(error))
        }
    }
}

/// The certificates that a receipt or signed data carries.
struct SigningChain: Sendable {
    let leaf: Certificate
    let intermediate: Certificate
    let root: Certificate
}

/// Why an authority cannot be had. Each says what to do about it.
public enum AuthorityError: Error, Hashable {
    /// A key or certificate could not be made or written as text: a fault of the cryptographic library; report it.
    case certificateRefused(String)
    /// There is no such folder: name the one that a simulator keeps its authority in.
    case noFolder(String)
    /// A file of the folder is missing or unreadable: delete the folder and let a new authority be made.
    case unreadable(file: String)
    /// The folder was written before authorities signed data, not only receipts, and has none of its files: delete the
    /// folder and let a new authority be made; what the old one signed is not accepted any more.
    case withoutSignedData(folder: String)
    /// The folder cannot be written: choose another or mend its permissions.
    case unwritable(folder: String)
}
