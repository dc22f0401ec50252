import Crypto
import Foundation
import Purchases
import X509
import _CryptoExtras

/// Verifies the signature of App Store receipts without asking anybody.
///
/// The signer's certificate must chain to a pinned root and carry Apple's markers, and must have been valid when the
/// receipt was made, which the receipt says inside of what is signed. The root that a receipt carries is not looked at. One
/// verifier is shared by all tasks and cores; it is synchronous and keeps what it learns about certificates, in bounds.
///
/// SHA-1 is broken against whoever can choose what is signed, and nobody but Apple chooses what is in a receipt, so the
/// receipts that Apple signed that way are still worth what they were. But Apple signs with SHA-256 since 2023, and its
/// last certificate for SHA-1 ran out on 2025-01-24
/// ([TN3138](https://developer.apple.com/documentation/technotes/tn3138-handling-app-store-receipt-signing-certificate-changes)),
/// so SHA-1, in the receipt's signature or in those of its certificates, does not count for a receipt that was made later.
///
/// [Validating receipts on the device](https://developer.apple.com/documentation/appstorereceipts/validating_receipts_on_the_device)
public final class ReceiptVerifier: Sendable {
    /// From when on SHA-1 does not count: the day after, 2025-01-25T00:00:00Z.
    static let endOfSHA1 = Timestamp(milliseconds: 1_737_763_200_000)

    private let chains: ChainCache

    /// A verifier that trusts these roots.
    public init(roots: TrustedRoots) {
        chains = ChainCache(roots: roots)
    }

    /// How often the chains of receipts were known already.
    var chainStatistics: ChainCache.Statistics { chains.statistics }

    /// Returns if Apple signed the receipt.
    ///
    /// That proves what was bought until the receipt was made. It does not tell of later refunds, and not whose device it
    /// came from: whoever has a copy can present it.
    ///
    /// - Throws: why it is no receipt that Apple signed; the error's `verdict` says what follows.
    public func verify(_ receipt: AppReceipt) throws(ReceiptSignatureError) {
        let data = receipt.signedData
        guard data.contentType.elementsEqual(SignedData.dataOID) else { throw .wrongContentType }
        guard let createdAt = receipt.createdAt else { throw .noCreationDate }
        guard let signer = data.signerInfos.flatMap(SignerInfo.init) else { throw .signerUnreadable }
        guard let certificates = ReceiptCertificates(data.certificates) else { throw .certificatesUnreadable }
        guard let leaf = certificates.certificate(of: signer) else { throw .signerUnknown }
        let (chain, intermediate) = try chain(of: leaf, certificates)
        guard chain.validity.contains(createdAt) else { throw .outsideValidity }
        let usesSHA1 = signer.digest == .sha1 || leaf.isSignedWithSHA1 || intermediate.isSignedWithSHA1
        guard !usesSHA1 || createdAt < Self.endOfSHA1 else { throw .weakDigest }
        switch signer.digest {
        case .sha256: try check(signer, chain.key, data.payload, SHA256.self)
        case .sha1: try check(signer, chain.key, data.payload, Insecure.SHA1.self)
        }
    }

    /// The first chain that holds; if none does, why the first does not.
    private func chain(
        of leaf: ReceiptCertificates.Entry, _ certificates: ReceiptCertificates
    ) throws(ReceiptSignatureError) -> (VerifiedChain, intermediate: ReceiptCertificates.Entry) {
        var failure = ReceiptSignatureError.issuerUnknown
        for intermediate in certificates.issuers(of: leaf) {
            do throws(ChainError) {
                return (try chains.chain(leaf: leaf.der, intermediate: intermediate.der), intermediate)
            } catch {
                if failure == .issuerUnknown { failure = .chain(error) }
            }
        }
        throw failure
    }

    private func check<Hash: HashFunction>(
        _ signer: SignerInfo, _ key: Certificate.PublicKey, _ payload: ArraySlice<UInt8>, _: Hash.Type
    ) throws(ReceiptSignatureError) {
        let digest: Hash.Digest
        if let attributes = signer.signedAttributes {
            guard attributes.messageDigest.elementsEqual(Hash.hash(data: payload)) else { throw .wrongDigest }
            digest = Hash.hash(data: attributes.signed)
        } else {
            digest = Hash.hash(data: payload)
        }
        let isValid: Bool
        switch signer.algorithm {
        case .rsa, .rsaWithSHA1, .rsaWithSHA256:
            guard let key = _RSA.Signing.PublicKey(key) else { throw .wrongKey }
            let signature = _RSA.Signing.RSASignature(rawRepresentation: Data(signer.signature))
            isValid = key.isValidSignature(signature, for: digest, padding: .insecurePKCS1v1_5)
        case .ecdsaWithSHA256:
            guard let key = P256.Signing.PublicKey(key) else { throw .wrongKey }
            // A failure means bytes that are no signature, so it is none of this key either.
            let signature = try? P256.Signing.ECDSASignature(derRepresentation: signer.signature)
            isValid = signature.map { key.isValidSignature($0, for: digest) } ?? false
        }
        guard isValid else { throw .wrongSignature }
    }
}
