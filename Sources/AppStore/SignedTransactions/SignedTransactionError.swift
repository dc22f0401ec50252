public import Contract

/// Why a text is no transaction that Apple signed. The same text always gives the same error, so its submission is
/// rejected. Three cases are exceptions and say so.
public enum SignedTransactionError: Error, Hashable, Sendable {
    /// More than ``SignedTransactionVerifier/maxBytes``; not looked into.
    case tooLarge
    case notThreeParts
    /// A character that the URL-safe alphabet does not have, padding, or a length that base64 cannot have.
    case notBase64URL
    /// The header is no JSON object, or has a member twice.
    case headerUnreadable
    case wrongAlgorithm
    /// The header names another key, or an extension that would have to be understood.
    case headerRefused
    /// `x5c` is missing, or does not hold three certificates.
    case wrongCertificateCount
    case chain(ChainError)
    case wrongKey
    /// The signature has not 64 bytes, or is none of this key over this text.
    case wrongSignature
    /// Signed, and yet its payload is no JSON object of ours, or has a member twice. Apple made it, so a person must
    /// look.
    case payloadUnreadable
    /// Signed, and something else: renewal infos, notifications and app transactions bear signatures of the same key.
    case notATransaction
    /// Signed without a moment of signing that can be read, without which nobody can tell whether the certificates were
    /// valid. Apple made it, so a person must look.
    case noSigningDate
    case outsideValidity
    /// Signed at a moment that has not come: our clock is slow, or the signer's is fast. True from the given moment on.
    case signedAhead(until: Timestamp)
    case localTesting

    /// One sentence for people. Holds nothing of the text.
    public var detail: String {
        switch self {
        case .tooLarge: "The signed transaction is larger than one can be."
        case .notThreeParts: "The signed transaction is no compact JWS of three parts."
        case .notBase64URL: "A part of the signed transaction is not base64url."
        case .headerUnreadable: "The header of the signed transaction cannot be read."
        case .wrongAlgorithm: "The signed transaction is not signed with ES256."
        case .headerRefused: "The header of the signed transaction has a member that is not allowed."
        case .wrongCertificateCount: "The signed transaction does not carry three certificates."
        case .chain(let error): error.detail
        case .wrongKey: "The key of the signed transaction is not on the curve P-256."
        case .wrongSignature: "The signature does not fit the signed transaction."
        case .payloadUnreadable: "The payload of the signed transaction cannot be read."
        case .notATransaction: "Apple signed it, and it is no transaction."
        case .noSigningDate: "The signed transaction does not say when it was signed."
        case .outsideValidity: "The transaction was signed when its certificates were not valid."
        case .signedAhead: "The transaction was signed at a moment that has not come yet."
        case .localTesting: "The transaction is of Xcode or of local tests."
        }
    }

    /// The verdict on a submission with this evidence.
    ///
    /// A valid signature over a future moment means that a clock is wrong, perhaps ours. The purchase is paid, so it is
    /// tried again when the moment has come, however far away.
    public var verdict: Verdict {
        switch self {
        case .signedAhead(let moment): .retry(.signedAhead, notBefore: moment)
        case .payloadUnreadable, .noSigningDate: .hold(.unknownAnswer, detail: detail)
        default: .rejected(Rejection(.signatureInvalid, detail))
        }
    }
}

/// The checks of a signed transaction, in this order; the first failure ends them. Reports show the raw values.
public enum SignedTransactionStep: String, Sendable, CaseIterable {
    case form, header, certificates, signature, payload, validity, clock, environment, purchase

    /// The step that a text with this error does not pass.
    init(failedBy error: SignedTransactionError) {
        self =
            switch error {
            case .tooLarge, .notThreeParts, .notBase64URL: .form
            case .headerUnreadable, .wrongAlgorithm, .headerRefused, .wrongCertificateCount: .header
            case .chain, .wrongKey: .certificates
            case .wrongSignature: .signature
            case .payloadUnreadable, .notATransaction, .noSigningDate: .payload
            case .outsideValidity: .validity
            case .signedAhead: .clock
            case .localTesting: .environment
            }
    }

    /// One sentence on a transaction that passed.
    func passed(by text: EvidenceText) -> String {
        switch self {
        case .form: "A compact JWS of \(text.bytes.count) bytes."
        case .header: "ES256, with three certificates."
        case .certificates: "They lead to a pinned root and are for App Store data."
        case .signature: "The certified key signed header and payload."
        case .payload: "The payload is one of a transaction."
        case .validity: "It was signed when the certificates were valid."
        case .clock: "It was not signed in the future."
        case .environment: "The environment is none of local tests."
        case .purchase: "It has all that a grant needs, if policy allows."
        }
    }
}
