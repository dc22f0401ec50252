internal import Contract
internal import Cryptography

/// The keys whose tokens are accepted, and the tokens that were found good lately.
struct KeyRing: Sendable {
    /// Keys that can be accepted at once.
    static let keyLimit = 1000
    /// Tokens whose signature is remembered; all are forgotten when there would be more.
    static let tokenLimit = 1000

    /// There are as many keys as may be.
    struct Full: Error {}

    private struct Name: Hashable {
        let issuerID: String
        let keyID: String
    }

    private var keys: [Name: PublicKey] = [:]
    private var verified: [Substring: BearerToken] = [:]

    /// Accepts a key, instead of an earlier one of the same names.
    mutating func accept(_ key: PublicKey, issuerID: String, keyID: String) throws(Full) {
        let name = Name(issuerID: issuerID, keyID: keyID)
        guard keys[name] != nil || keys.count < Self.keyLimit else { throw Full() }
        keys[name] = key
        verified = [:]
    }

    /// The app that a call is about.
    ///
    /// - Parameter authorization: The header's value, such as `Bearer eyJ...`.
    mutating func app(of authorization: String?, now: Timestamp) throws(BearerToken.Refusal) -> BundleID {
        guard let authorization, authorization.hasPrefix("Bearer ") else { throw .absent }
        let text = authorization.dropFirst("Bearer ".count)
        let token = try token(text)
        try token.checkTimes(now: now)
        return token.app
    }

    private mutating func token(_ text: Substring) throws(BearerToken.Refusal) -> BearerToken {
        if let token = verified[text] { return token }
        let token = try BearerToken(text)
        try token.checkOrigin { keys[Name(issuerID: $0, keyID: $1)] }
        if verified.count >= Self.tokenLimit { verified = [:] }
        verified[text] = token
        return token
    }
}
