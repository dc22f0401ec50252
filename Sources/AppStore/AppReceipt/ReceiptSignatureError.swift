public import Contract

/// Why a receipt is none that Apple signed. The same receipt gives the same error for ever, so its submission is to be
/// rejected.
public enum ReceiptSignatureError: Error, Hashable, Sendable {
    /// The container holds something else than plain data, which a receipt is.
    case wrongContentType
    /// It does not say when it was made, so nobody can tell whether its certificates were valid.
    case noCreationDate
    /// There is not exactly one signer in a form that is known, or its algorithms do not go together.
    case signerUnreadable
    /// The certificates are missing, too many or too large, or one cannot be read.
    case certificatesUnreadable
    /// The signer's certificate is not among those in the receipt.
    case signerUnknown
    /// The certificate of the signer's issuer is not among those in the receipt.
    case issuerUnknown
    /// The certificates do not prove that the key is Apple's.
    case chain(ChainError)
    /// Made when the certificates were not valid.
    case outsideValidity
    /// Signed over a SHA-1 digest, or by certificates that were, at a time when Apple did that no more.
    case weakDigest
    /// What was signed is not this payload.
    case wrongDigest
    /// The certified key is not of the kind that the signer says it signed with.
    case wrongKey
    /// The signature is none of this key over this receipt.
    case wrongSignature

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
        }
    }

    /// What follows for a submission.
    public var verdict: Verdict { .rejected(Rejection(.receiptNotAuthentic, detail)) }
}
