internal import CertificateMaking
internal import Cryptography

/// Signs payloads with an authority's key, and recognizes its own signatures.
struct ReceiptSigner: Sendable {
    private let key: PrivateKey
    private let isRSA: Bool
    /// `[0] IMPLICIT` set of the chain's certificates, the same in every receipt.
    private let certificates: [UInt8]
    /// The leaf's issuer and serial number, by which a signer is named.
    private let signerName: [UInt8]
    /// The version and the digest algorithms, which open SignedData.
    private let opening: [UInt8]
    /// Of digest and signature, in a signer.
    private let algorithms: (digest: [UInt8], signature: [UInt8])

    /// id-data (RFC 5652, section 4).
    private static let dataType = DER.objectIdentifier("1.2.840.113549.1.7.1")
    private static let sha256 = DER.sequence(DER.objectIdentifier("2.16.840.1.101.3.4.2.1"), DER.null)
    /// rsaEncryption: the name that signers of SignedData use for PKCS #1 v1.5 (RFC 5754, section 3.2).
    private static let rsa = DER.sequence(DER.objectIdentifier("1.2.840.113549.1.1.1"), DER.null)
    /// ecdsa-with-SHA256 (RFC 5754, section 3.3).
    private static let ecdsa = DER.sequence(DER.objectIdentifier("1.2.840.10045.4.3.2"))

    init(authority: SimulatorAuthority) throws(ReceiptFactoryError) {
        guard let leaf = try? Certificate(der: authority.receiptChain.leaf) else {
            throw .signingFailed("certificate")
        }
        key = authority.receiptKey
        isRSA = if case .rsa = key.publicKey.kind { true } else { false }
        algorithms = (Self.sha256, isRSA ? Self.rsa : Self.ecdsa)
        certificates = DER.context(0, authority.receiptChain.certificates.flatMap { $0 })
        signerName = DER.sequence(leaf.issuer, DER.integer(magnitude: leaf.serialNumber))
        opening = DER.integer(1) + DER.set(Self.sha256)
    }

    /// The receipt that holds a payload.
    func receipt(holding payload: [UInt8]) throws(ReceiptFactoryError) -> [UInt8] {
        let signer = DER.sequence(
            DER.integer(1), signerName, algorithms.digest, algorithms.signature,
            DER.octetString(try signature(of: payload)))
        let encapsulated = DER.sequence(Self.dataType, DER.context(0, DER.octetString(payload)))
        let signedData = DER.value(tag: DERTag.sequence, opening + encapsulated + certificates + DER.set(signer))
        return DER.sequence(SignedReceipt.signedDataType, DER.context(0, signedData))
    }

    /// Whether this signer's key made the receipt's signature over the receipt's payload.
    func isOwn(_ receipt: SignedReceipt) -> Bool {
        let digest = SHA256.hash(receipt.payload)
        return isRSA
            ? key.publicKey.isValidRSASignature(receipt.signature, of: .sha256(digest))
            : key.publicKey.isValidECDSASignature(der: receipt.signature, of: digest)
    }

    private func signature(of payload: [UInt8]) throws(ReceiptFactoryError) -> [UInt8] {
        let digest = SHA256.hash(payload)
        let signature = isRSA ? try? key.signature(of: .sha256(digest)) : key.ecdsaSignature(of: digest)
        guard let signature else { throw .signingFailed("signature") }
        return signature
    }
}
