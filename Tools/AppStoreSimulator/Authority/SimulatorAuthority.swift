internal import CertificateMaking
public import Contract
public import Cryptography

/// The simulator's certificates: a TLS server certificate under its own authority, and two signing chains like Apple's.
/// One chain signs receipts. The other signs StoreKit 2's transactions and the App Store Server API's answers.
///
/// The authorities' private keys are deleted once the certificates are made. Only the server's and the two signers'
/// keys remain. Nothing chains to a real root, so its signatures are worthless elsewhere.
public struct SimulatorAuthority: Sendable {
    /// How receipts are signed. Signed data is always ES256, as Apple's is.
    public enum ReceiptAlgorithm: String, Sendable, CaseIterable {
        /// P-256 with SHA-256: about thirty times as fast to sign.
        case ecdsa
        /// RSA, 2048 bits, PKCS #1 v1.5 with SHA-256: the App Store's since 2023-08-16.
        case rsa
    }

    /// A server's certificate under a root of its own, PEM.
    struct ServerTexts: Sendable {
        let root: String
        let certificate: String
        let key: String
    }

    let server: ServerTexts
    public let receiptChain: SigningChain
    public let receiptKey: PrivateKey
    /// Of Apple's shape: root and intermediate P-384 with SHA-384, the leaf P-256.
    public let signedDataChain: SigningChain
    public let signedDataKey: PrivateKey

    /// Receipts are checked at their creation date, which may lie long before the authority was made: 2010-01-01.
    private static let notBefore: Int64 = 1_262_304_000

    /// Draws new keys and makes all three chains.
    ///
    /// - Parameters:
    ///   - receipts: How receipts are to be signed.
    ///   - host: A DNS name of the server besides `localhost`.
    ///   - now: The certificates are valid until ten years later.
    /// - Throws: ``AuthorityError/certificateRefused(_:)``.
    public init(receipts: ReceiptAlgorithm = .ecdsa, host: String? = nil, now: Timestamp) throws(AuthorityError) {
        let validity = Self.notBefore...(now.milliseconds / 1000 + 10 * 365 * 86_400)
        func names(_ purpose: String) -> (root: String, intermediate: String, leaf: String) {
            let name = "App Store Simulator \(purpose)"
            return ("\(name) Root", "\(name) Relations", "\(name) Signing")
        }
        do throws(MakingFailed) {
            let server = try ServerCertificate(hosts: ["localhost"] + (host.map { [$0] } ?? []), validity: validity)
            let receipt = try CertificateChain(
                leaf: receipts == .rsa ? .rsa(bits: 2048) : .p256, authorities: .p256, validity: validity,
                names: names("Receipt"))
            let signedData = try CertificateChain(validity: validity, names: names("Signed Data"))
            self.init(
                server: ServerTexts(root: server.rootPEM, certificate: server.certificatePEM, key: server.keyPEM),
                receiptChain: try SigningChain(receipt), receiptKey: receipt.leaf.key,
                signedDataChain: try SigningChain(signedData), signedDataKey: signedData.leaf.key)
        } catch {
            throw .certificateRefused(error.what)
        }
    }

    init(
        server: ServerTexts, receiptChain: SigningChain, receiptKey: PrivateKey, signedDataChain: SigningChain,
        signedDataKey: PrivateKey
    ) {
        self.server = server
        self.receiptChain = receiptChain
        self.receiptKey = receiptKey
        self.signedDataChain = signedDataChain
        self.signedDataKey = signedDataKey
    }

    /// The TLS authority's certificate, PEM: a client trusts it to reach the simulator.
    public var serverRootPEM: String { server.root }

    /// The root of the chain that signs receipts, PEM: a local check of receipts trusts it.
    public var receiptRootPEM: String { pem(receiptChain.root) ?? "" }

    /// The root of the chain that signs transactions, PEM: their verification trusts it.
    public var signedDataRootPEM: String { pem(signedDataChain.root) ?? "" }

    /// Both roots that evidence is verified against, one PEM text: the receipts' and the signed data's. It is a value
    /// of `GRANTOR_APPLE_ROOT_CERTIFICATES`.
    public var rootsPEM: String { receiptRootPEM + signedDataRootPEM }
}
