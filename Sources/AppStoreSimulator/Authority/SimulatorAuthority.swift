public import Foundation
import SwiftASN1
import X509

/// Everything the simulator proves itself with: a TLS server certificate under a certificate authority of its own, and a
/// chain that signs receipts as Apple's does.
///
/// The private keys of the authorities are thrown away once the certificates are made; only the server's and the
/// receipt signer's remain. Nothing here chains to a real root, so what it signs is worth nothing elsewhere.
public struct SimulatorAuthority: Sendable {
    /// How receipts are signed.
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
    /// Leaf, intermediate, root.
    let receiptChain: ReceiptChain
    let receiptKey: Certificate.PrivateKey

    /// Draws new keys and makes both chains.
    ///
    /// - Parameters:
    ///   - receipts: How receipts are to be signed.
    ///   - now: The certificates are valid until ten years later.
    /// - Throws: ``AuthorityError/certificateRefused`` when a certificate cannot be made.
    public init(receipts: ReceiptAlgorithm = .ecdsa, now: Date) throws(AuthorityError) {
        do {
            let issued = CertificateFactory(notValidAfter: now + 10 * 365 * 86_400)
            let (serverRoot, serverRootKey) = try issued.root(named: "App Store Simulator TLS Root")
            let (server, serverKey) = try issued.server(issuer: serverRoot, issuerKey: serverRootKey)
            self.serverRoot = serverRoot
            self.server = server
            self.serverKey = serverKey
            let (root, rootKey) = try issued.root(named: "App Store Simulator Receipt Root")
            let (intermediate, intermediateKey) = try issued.receiptIntermediate(issuer: root, issuerKey: rootKey)
            let key = try issued.key(receipts)
            let leaf = try issued.receiptLeaf(for: key, issuer: intermediate, issuerKey: intermediateKey)
            receiptChain = ReceiptChain(leaf: leaf, intermediate: intermediate, root: root)
            receiptKey = key
        } catch {
            throw .certificateRefused("\(error)")
        }
    }

    init(
        serverRoot: Certificate, server: Certificate, serverKey: Certificate.PrivateKey, receiptChain: ReceiptChain,
        receiptKey: Certificate.PrivateKey
    ) {
        self.serverRoot = serverRoot
        self.server = server
        self.serverKey = serverKey
        self.receiptChain = receiptChain
        self.receiptKey = receiptKey
    }

    /// The TLS authority's certificate, PEM: what a client trusts to reach the simulator.
    public var serverRootPEM: String {
        get throws(AuthorityError) { try Self.pem(serverRoot) }
    }

    /// The root of the chain that signs receipts, PEM: what a local validation of receipts trusts.
    public var receiptRootPEM: String {
        get throws(AuthorityError) { try Self.pem(receiptChain.root) }
    }

    static func pem(_ certificate: Certificate) throws(AuthorityError) -> String {
        do {
            return try certificate.serializeAsPEM().pemString + "\n"
        } catch {
            throw .certificateRefused("\(error)")
        }
    }
}

/// The certificates that a receipt carries.
struct ReceiptChain: Sendable {
    let leaf: Certificate
    let intermediate: Certificate
    let root: Certificate
}

/// Why an authority cannot be had. Each says what to do about it.
public enum AuthorityError: Error, Hashable {
    /// A key or certificate could not be made or written as text: a fault of the cryptographic library; report it.
    case certificateRefused(String)
    /// A file of the folder is missing or unreadable: delete the folder and let a new authority be made.
    case unreadable(file: String)
    /// The folder cannot be written: choose another or mend its permissions.
    case unwritable(folder: String)
}
