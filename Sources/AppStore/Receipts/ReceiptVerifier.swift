public import Contract
import Cryptography

/// Verifies the signature of App Store receipts without a call.
///
/// The signer's certificate must chain to a pinned root, carry Apple's markers, and have been valid when the receipt
/// was made. The signed content names that moment. The root in a receipt is ignored. All threads share one verifier. It
/// is synchronous and has a bounded cache of certificate chains.
///
/// SHA-1 is broken against an attacker who can choose the signed content. Only Apple chooses a receipt's content, so
/// older receipts with SHA-1 remain valid. Apple signs with SHA-256 since 2023, and its last certificate for SHA-1
/// expired on 2025-01-24
/// ([TN3138](https://developer.apple.com/documentation/technotes/tn3138-handling-app-store-receipt-signing-certificate-changes)).
/// For later receipts SHA-1 does not count, neither in the receipt's signature nor in those of its certificates.
///
/// [Validating receipts on the
/// device](https://developer.apple.com/documentation/appstorereceipts/validating_receipts_on_the_device)
public final class ReceiptVerifier: Sendable {
    /// From when on SHA-1 does not count: the day after, 2025-01-25T00:00:00Z.
    static let endOfSHA1 = Timestamp(milliseconds: 1_737_763_200_000)

    let chains: ChainCache

    public init(roots: TrustedRoots) { chains = ChainCache(roots: roots) }

    /// Returns if Apple signed the receipt.
    ///
    /// That proves what was bought until the receipt was made. It says nothing of later refunds, nor of whose device it
    /// came from: anybody can present a copy.
    /// - Throws: why it is no receipt that Apple signed; the error's `verdict` says what follows.
    public func verify(_ receipt: AppReceipt) throws(ReceiptSignatureError) {
        let data = receipt.signedData
        guard data.contentType.elementsEqual(SignedData.dataOID) else { throw .wrongContentType }
        guard let createdAt = receipt.createdAt else { throw .noCreationDate }
        guard let signer = data.signerInfos.flatMap(SignerInfo.init) else { throw .signerUnreadable }
        guard let certificates = ReceiptCertificates(data.certificates) else { throw .certificatesUnreadable }
        guard let leaf = certificates.certificate(of: signer) else { throw .signerUnknown }
        let chain = try chain(of: leaf, certificates)
        let usesSHA1 = signer.digest == .sha1 || chain.isSignedWithSHA1
        guard !usesSHA1 || createdAt < Self.endOfSHA1 else { throw .weakDigest }
        let digest = try signedDigest(signer, payload: data.payload)
        switch try answer(signer, digest, chain.key) {
        case .holds:
            if let objection = chain.objection { throw .objection(objection) }
            guard chain.validity.contains(createdAt) else { throw .outsideValidity }
        case .fails: throw .wrongSignature
        case .unchecked: throw .unchecked
        }
    }

    /// The first chain that holds, one without an objection before others; if none does, why the first does not. A chain
    /// in a form that may be unknown says more than a forged chain, because an authority may have several certificates
    /// of its name.
    private func chain(
        of leaf: ReceiptCertificates.Entry, _ certificates: ReceiptCertificates
    ) throws(ReceiptSignatureError) -> VerifiedChain {
        var failure: ReceiptSignatureError?
        var objected: VerifiedChain?
        for intermediate in certificates.issuers(of: leaf) {
            do throws(ChainError) {
                let chain = try chains.chain(leaf: leaf.der, intermediate: intermediate.der)
                if chain.objection == nil { return chain }
                objected = objected ?? chain
            } catch {
                if error == .unchecked { failure = .unchecked }
                if failure.map({ $0.provesForgery && !error.provesForgery }) ?? true { failure = .chain(error) }
            }
        }
        if let objected { return objected }
        throw failure ?? .issuerUnknown
    }

    /// The digest that the signature is over: of the payload, or of the attributes that hold the payload's digest.
    private func signedDigest(
        _ signer: SignerInfo, payload: ArraySlice<UInt8>
    ) throws(ReceiptSignatureError) -> MessageDigest {
        let digest = Self.digest(payload, signer.digest)
        guard let attributes = signer.signedAttributes else { return digest }
        guard attributes.messageDigest.elementsEqual(digest.bytes) else { throw .wrongDigest }
        return Self.digest(attributes.signed[...], signer.digest)
    }

    private func answer(
        _ signer: SignerInfo, _ digest: MessageDigest, _ key: PublicKey
    ) throws(ReceiptSignatureError) -> SignatureAnswer {
        switch (signer.algorithm, key.kind, digest) {
        case (.rsa, .rsa, _), (.rsaWithSHA1, .rsa, _), (.rsaWithSHA256, .rsa, _):
            key.answer(rsa: signer.signature, of: digest)
        case (.ecdsaWithSHA256, .p256, .sha256(let digest)):
            key.answer(ecdsa: signer.signature, of: digest)
        default: throw .wrongKey
        }
    }

    private static func digest(_ bytes: ArraySlice<UInt8>, _ algorithm: SignerInfo.Digest) -> MessageDigest {
        switch algorithm {
        case .sha1: .sha1(SHA1.hash(bytes))
        case .sha256: .sha256(SHA256.hash(bytes))
        }
    }
}

extension MessageDigest {
    fileprivate var bytes: [UInt8] {
        switch self {
        case .sha1(let digest): digest
        case .sha256(let digest): digest.bytes
        }
    }
}

/// Why Apple did not sign a receipt. The same receipt gives the same error for ever, so its submission is to be
/// rejected. Three cases are exceptions and say so.
public enum ReceiptSignatureError: Error, Hashable, Sendable {
    /// The container holds something else than plain data, which a receipt is.
    case wrongContentType
    /// It does not say when it was made, so nobody can tell whether its certificates were valid.
    case noCreationDate
    /// There is not exactly one signer in a known form, or its algorithms do not fit together.
    case signerUnreadable
    /// The certificates are missing, too many or too large, or one cannot be read.
    case certificatesUnreadable
    case signerUnknown
    case issuerUnknown
    case chain(ChainError)
    /// Signed by a key of Apple's, and made when its certificates were not valid. A clock may be wrong, so a person must
    /// look.
    case outsideValidity
    /// The receipt or one of its certificates is signed over SHA-1, from a time when Apple did that no more.
    case weakDigest
    case wrongDigest
    case wrongKey
    case wrongSignature
    /// A signature could not be checked, which says nothing about the receipt.
    case unchecked
    /// Apple signed it, and its certificates break a rule of ours. A person must look.
    case objection(ChainError)

    /// One sentence for people. Holds nothing of the receipt.
    public var detail: String {
        switch self {
        case .wrongContentType: "The container holds no plain data."
        case .noCreationDate: "The receipt does not say when it was made."
        case .signerUnreadable: "The receipt's signer cannot be read."
        case .certificatesUnreadable: "The receipt's certificates cannot be read."
        case .signerUnknown: "The receipt does not hold the certificate of its signer."
        case .issuerUnknown: "The receipt does not hold the certificate of its signer's issuer."
        case .chain(let error): error.detail
        case .outsideValidity: "The receipt was made when its certificates were not valid."
        case .weakDigest: "The receipt is signed in a way that Apple gave up before it was made."
        case .wrongDigest: "What was signed is not what the receipt holds."
        case .wrongKey: "The receipt's signer has a key of another kind."
        case .wrongSignature: "The signature does not fit the receipt."
        case .objection(let error): "Apple signed the receipt, and it is not taken. \(error.detail)"
        case .unchecked: "The receipt's signatures cannot be checked on this host now."
        }
    }

    public var verdict: Verdict {
        switch self {
        case .objection(let error): .hold(error.holdCause, detail: detail)
        case .outsideValidity: .hold(.unknownAnswer, detail: detail)
        case .unchecked, .chain(.unchecked): .hold(.signatureUnchecked, detail: detail)
        default: .rejected(Rejection(.receiptNotAuthentic, detail))
        }
    }

    /// Whether it is proven that Apple did not sign. Apple's refusal of such a receipt counts, because two witnesses
    /// say the same.
    ///
    /// Everything else may be a form that Apple uses and this version does not know. Then Apple's word stands alone,
    /// and it has been wrong for a while about genuine receipts.
    var provesForgery: Bool {
        switch self {
        // The key of Apple's certificate did not sign this.
        case .wrongSignature: true
        // Apple's signer, if it was one, saw something else.
        case .wrongDigest: true
        case .chain(let error): error.provesForgery
        // Another container, or a date in another form.
        case .wrongContentType, .noCreationDate: false
        // An algorithm, a second signer or an attribute of a later day.
        case .signerUnreadable: false
        // A kind of key or a length of a later day; or the authority's certificate must be fetched elsewhere.
        case .certificatesUnreadable, .signerUnknown, .issuerUnknown, .wrongKey: false
        // Our rule about digests. The signature itself was not looked at.
        case .weakDigest: false
        // Apple signed it.
        case .outsideValidity, .objection: false
        case .unchecked: false
        }
    }
}

/// The checks of a receipt, in this order; the first failure ends them. Reports show the raw values.
enum ReceiptStep: String, CaseIterable {
    case form, signer, certificates, validity, digest, signature, environment, purchases
}

extension ReceiptVerifier {
    /// The checks that granting a receipt makes, each with how it ended.
    /// - Parameter base64: in any of the forms that ``ReceiptText`` takes.
    public func explain(base64: EvidenceText) -> [EvidenceCheck] {
        let receipt: AppReceipt
        do throws(AppReceiptError) {
            receipt = try AppReceipt.parse(base64: base64)
        } catch {
            return EvidenceCheck.all(failure: (ReceiptStep.form, error.detail))
        }
        var failure = receipt.failureOfContents
        do throws(ReceiptSignatureError) { try verify(receipt) } catch { failure = (error.step, error.detail) }
        return EvidenceCheck.all(failure: failure)
    }
}

extension ReceiptSignatureError {
    /// The step that a receipt with this error does not pass.
    fileprivate var step: ReceiptStep {
        switch self {
        case .wrongContentType, .noCreationDate: .form
        case .signerUnreadable: .signer
        case .certificatesUnreadable, .signerUnknown, .issuerUnknown, .chain, .objection: .certificates
        case .outsideValidity: .validity
        case .weakDigest: .digest
        case .wrongDigest, .wrongKey, .wrongSignature, .unchecked: .signature
        }
    }
}

extension AppReceipt {
    /// The fault of a receipt of Apple's that keeps its purchases from being granted; nil if there is none.
    fileprivate var failureOfContents: (step: ReceiptStep, detail: String)? {
        guard origin != .xcode else { return (.environment, "The receipt is of StoreKit testing in Xcode.") }
        guard let environment = origin?.environment else {
            return (.environment, "The receipt is of an environment that is not known.")
        }
        let lacking = purchaseSets.count { ReceiptPurchase($0)?.purchase(in: environment) == nil }
        guard lacking > 0 else { return nil }
        return (.purchases, "\(lacking) of \(purchaseSets.count) purchases in it lack what a grant needs.")
    }
}
