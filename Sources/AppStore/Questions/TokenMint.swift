internal import Contract
internal import Cryptography
internal import Synchronization

/// An app's token for calls of the App Store Server API: a JWT, signed with ES256.
public struct BearerToken: Hashable, Sendable, RedactedSecret {
    /// For the request's header only.
    public let text: String
    /// Differs from the numbers of the tokens that the mint made before.
    let number: Int
}

/// Makes an app's bearer tokens: one for thousands of requests, and a new one in time. Shared by all threads.
///
/// [Generating JSON Web
/// Tokens](https://developer.apple.com/documentation/appstoreserverapi/generating-json-web-tokens-for-api-requests)
final class TokenMint: Sendable {
    /// From `iat` to `exp`; Apple takes at most an hour.
    static let lifetime: Duration = .seconds(20 * 60)
    /// Age at which a token is replaced. It is below half of a token's life, so that a token in use has minutes left
    /// even if Apple's clock differs.
    static let renewalAge: Duration = .seconds(9 * 60)
    /// How far back `iat` is set, so that a slightly fast clock makes no token of the future.
    static let backdating: Duration = .seconds(30)
    /// A token younger than this is not replaced when refused. A new token by the same key and clock would be refused,
    /// too, and every caller with a wrong key would cause a signature. The value also bounds how far callers' clock
    /// readings may be out of order, because they are taken before the lock.
    static let youth: Duration = .seconds(10)
    static let audience = "appstoreconnect-v1"

    private struct State {
        var token: BearerToken?
        var madeAt = Timestamp(milliseconds: 0)
        var isRefused = false
    }

    private let credentials: ServerAPICredentials
    private let bundleID: BundleID
    private let state = Mutex(State())

    init(credentials: ServerAPICredentials, bundleID: BundleID) {
        self.credentials = credentials
        self.bundleID = bundleID
    }

    /// The token to use now. Signing takes microseconds, so callers may wait for each other.
    /// - Returns: nil if the cryptographic library cannot sign, for want of random numbers.
    func token(now: Timestamp) -> BearerToken? {
        state.withLock { state in
            // A clock that was set back by more makes a token of the future, which Apple refuses.
            let ages = Duration.zero - Self.youth..<(state.isRefused ? Self.youth : Self.renewalAge)
            if let token = state.token, ages.contains(now.since(state.madeAt)) { return token }
            guard let text = sign(now: now) else { return nil }
            let token = BearerToken(text: text, number: (state.token?.number ?? 0) + 1)
            state = State(token: token, madeAt: now)
            return token
        }
    }

    /// Apple refused a token (401): the next one is new, unless it is in its ``youth``. However many callers were
    /// refused with the same token, one is made.
    func refused(_ token: BearerToken) {
        state.withLock { state in
            if state.token?.number == token.number { state.isRefused = true }
        }
    }

    private func sign(now: Timestamp) -> String? {
        let issued = now.advanced(by: .zero - Self.backdating).milliseconds / 1000
        var header = JSONObjectWriter()
        header.member("alg", "ES256")
        header.member("kid", credentials.keyID)
        header.member("typ", "JWT")
        var claims = JSONObjectWriter()
        claims.member("aud", Self.audience)
        claims.member("bid", bundleID.rawValue)
        claims.member("exp", issued + Self.lifetime.components.seconds)
        claims.member("iat", issued)
        claims.member("iss", credentials.issuerID)
        let signed = Base64URL.encode(header.finished()) + "." + Base64URL.encode(claims.finished())
        return credentials.privateKey.es256Signature(of: SHA256.hash(Array(signed.utf8)))
            .map { signed + "." + Base64URL.encode($0) }
    }
}
