import Crypto
import Foundation
public import Purchases
import Synchronization

/// Makes an app's bearer tokens: one for thousands of requests, and a new one in time. One mint is shared by all tasks.
///
/// [Generating JSON Web Tokens](https://developer.apple.com/documentation/appstoreserverapi/generating-json-web-tokens-for-api-requests)
public final class TokenMint: Sendable {
    /// From `iat` to `exp`; Apple takes at most an hour.
    public static let lifetime: Duration = .seconds(20 * 60)
    /// Age at which a token is replaced: before half of its life, so that one that is in use has minutes left whatever
    /// Apple's clock says.
    public static let renewalAge: Duration = .seconds(9 * 60)
    /// How far back `iat` is set, so that a clock that is a little fast makes no token of the future.
    public static let backdating: Duration = .seconds(30)
    /// A token this young is not replaced when it is refused: another by the same key and clock would fare no better,
    /// and every caller with a wrong key would have one signed. It is also how far callers' clock readings may be out
    /// of order, for they are taken before the lock is.
    public static let youth: Duration = .seconds(10)
    static let audience = "appstoreconnect-v1"

    private struct State {
        var token: BearerToken?
        var madeAt = Timestamp(milliseconds: 0)
        var isRefused = false
        var made = 0
    }

    private let credentials: ServerAPICredentials
    private let bundleID: BundleID
    private let state = Mutex(State())

    /// A mint for one app.
    public init(credentials: ServerAPICredentials, bundleID: BundleID) {
        self.credentials = credentials
        self.bundleID = bundleID
    }

    /// The token to use now. Signing takes microseconds, so callers may wait for each other.
    ///
    /// - Returns: nil if the cryptographic library cannot sign, which its random numbers' end would be the reason for.
    public func token(now: Timestamp) -> BearerToken? {
        state.withLock { state in
            // A clock that was set back by more makes a token of the future, which Apple refuses.
            let ages = Duration.zero - Self.youth..<(state.isRefused ? Self.youth : Self.renewalAge)
            if let token = state.token, ages.contains(now.since(state.madeAt)) { return token }
            guard let text = sign(now: now) else { return nil }
            let token = BearerToken(text: text, number: state.made + 1)
            state = State(token: token, madeAt: now, made: token.number)
            return token
        }
    }

    /// Apple refused a token (401): the next one is new, unless it is in its ``youth``. However many callers were
    /// refused with the same token, one is made.
    public func refused(_ token: BearerToken) {
        state.withLock { state in
            if state.token?.number == token.number { state.isRefused = true }
        }
    }

    /// How many tokens were made.
    var made: Int { state.withLock { $0.made } }

    private struct Header: Encodable {
        let alg = "ES256"
        let kid: String
        let typ = "JWT"
    }

    private struct Claims: Encodable {
        let iss: String
        let iat, exp: Int64
        let aud: String
        let bid: String
    }

    private func sign(now: Timestamp) -> String? {
        let issued = now.advanced(by: .zero - Self.backdating).milliseconds / 1000
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        // Encoding texts and whole numbers cannot fail; the signature can, for want of random numbers.
        guard let header = try? encoder.encode(Header(kid: credentials.keyID)),
            let claims = try? encoder.encode(
                Claims(
                    iss: credentials.issuerID, iat: issued, exp: issued + Self.lifetime.components.seconds,
                    aud: Self.audience, bid: bundleID.rawValue))
        else { return nil }
        let signed = Self.base64URL(header) + "." + Self.base64URL(claims)
        guard let signature = try? credentials.privateKey.signature(for: Data(signed.utf8)) else { return nil }
        return signed + "." + Self.base64URL(signature.rawRepresentation)
    }

    private static func base64URL(_ data: Data) -> String {
        data.base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }
}
