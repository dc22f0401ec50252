/// Why a chain of certificates proves nothing. The same certificates give the same error for ever, so the evidence that
/// carries them is to be rejected.
public enum ChainError: Error, Hashable, Sendable, CaseIterable {
    /// A certificate of more than ``ChainVerifier/maxCertificateBytes``.
    case tooLarge
    /// Bytes that are no X.509 certificate of version 3.
    case unreadable
    /// No pinned root issued the intermediate: whoever signed is not Apple.
    case untrusted
    /// The intermediate did not issue the leaf.
    case broken
    /// The intermediate may not issue certificates, or the leaf may.
    case wrongRole
    /// A certificate may not be used to sign what it signed.
    case wrongUsage
    /// One of Apple's markers is missing: Apple issued it, for another purpose.
    case wrongPurpose
    /// A critical extension that is not understood (RFC 5280, section 4.2: such a certificate must be refused).
    case unknownCriticalExtension
    /// There is no moment at which all certificates are valid.
    case neverValid
    /// A certificate is signed over a SHA-1 digest, where that does not count.
    case weakSignature

    /// One sentence for people.
    public var detail: String {
        switch self {
        case .tooLarge: "A certificate is larger than a certificate can be."
        case .unreadable: "A certificate cannot be read."
        case .untrusted: "The certificates do not chain to a root of Apple's."
        case .broken: "The certificates do not form a chain."
        case .wrongRole: "A certificate has a role in the chain that it may not have."
        case .wrongUsage: "A certificate may not be used for what it was used for."
        case .wrongPurpose: "The certificates are Apple's, but not those that sign App Store data."
        case .unknownCriticalExtension: "A certificate has a critical extension that is not understood."
        case .neverValid: "The certificates are never valid at the same time."
        case .weakSignature: "A certificate is signed in a way that Apple gave up."
        }
    }
}
