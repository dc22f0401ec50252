public import Contract
internal import Cryptography
internal import Synchronization

/// How an app's receipts are verified. Signed transactions need no choice.
public enum ReceiptMethod: String, Hashable, Sendable, CaseIterable {
    /// Apple's verifyReceipt is asked: deprecated by Apple, and the only one that tells of refunds without a key.
    case verifyReceipt
    /// The receipt's signature is checked here; nobody is asked. Refunds since the receipt was made are not seen.
    case local
    /// The receipt's signature is checked here, then the App Store Server API is asked for its transactions.
    case serverAPI
}

/// An app with everything that verifying its purchases needs. Immutable but for the tokens of its key, and shared.
public final class AppRules: Sendable {
    public let app: App
    public let receipts: ReceiptMethod
    /// Tried in this order, so that a secret can be rotated without a gap.
    let sharedSecrets: [SharedSecret]
    /// Nil if the app has no key for the App Store Server API.
    let mint: TokenMint?
    /// Age from which on a signed transaction is looked up before it is granted; nil for never.
    let confirmsSignedTransactionsOlderThan: Duration?

    /// An app as configured.
    /// - Parameter serverAPI: The app's key; nil if it has none, and then nothing is confirmed or looked up.
    public init(
        app: App, receipts: ReceiptMethod, sharedSecrets: [SharedSecret] = [], serverAPI: ServerAPICredentials? = nil,
        confirmsSignedTransactionsOlderThan: Duration? = nil
    ) {
        self.app = app
        self.receipts = receipts
        self.sharedSecrets = sharedSecrets
        mint = serverAPI.map { TokenMint(credentials: $0, bundleID: app.bundleID) }
        self.confirmsSignedTransactionsOlderThan = mint == nil ? nil : confirmsSignedTransactionsOlderThan
    }

    public var hasServerAPIKey: Bool { mint != nil }

    /// Every endpoint that a submission of this app may be asked about at.
    public var endpoints: [Endpoint] {
        Environment.allCases.flatMap { environment in
            [receipts == .verifyReceipt ? .verifyReceipt(environment) : nil, serverAPI(environment)].compactMap { $0 }
        }
    }

    /// Whether Apple's answer may lag behind a purchase. It may if the submission claims everything new in a receipt,
    /// and Apple was asked about the receipt.
    public func answersMayLag(for submission: Submission) -> Bool {
        guard case .receipt = submission.evidence else { return false }
        return submission.claim.transactionID == nil && receipts != .local
    }

    /// Nil if the app has no key.
    func serverAPI(_ environment: Environment) -> Endpoint? {
        mint == nil ? nil : Endpoint(.serverAPI, environment, key: app.bundleID.rawValue)
    }
}

extension Endpoint {
    /// The deprecated endpoint of an environment. It answers 200 whatever it thinks of a shared secret, so all apps
    /// share its state.
    public static func verifyReceipt(_ environment: Environment) -> Endpoint { Endpoint(.verifyReceipt, environment) }
}

/// A secret: it does not show itself in any description or dump.
public protocol RedactedSecret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension RedactedSecret {
    public var description: String { "<redacted>" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// An app's or account's shared secret for verifyReceipt.
public struct SharedSecret: Hashable, Sendable, RedactedSecret {
    /// For the request's body only.
    let text: String

    /// Wraps a secret as App Store Connect shows it.
    public init(_ text: String) { self.text = text }
}

/// An app's key for the App Store Server API.
///
/// [Creating API
/// keys](https://developer.apple.com/documentation/appstoreserverapi/creating-api-keys-to-authorize-api-requests)
public struct ServerAPICredentials: Sendable, RedactedSecret {
    /// Longest id that is taken, in bytes. Apple's have 36 and 10.
    static let maxIDBytes = 128

    /// Names the team that the key belongs to.
    public let issuerID: String
    public let keyID: String
    let privateKey: PrivateKey

    /// Credentials as App Store Connect gives them out. One key serves both of Apple's environments.
    /// - Parameters:
    ///   - issuerID: The issuer id, a UUID.
    ///   - keyID: The key's id, ten letters and digits.
    ///   - privateKeyPEM: The text of the `.p8` file: PKCS #8, P-256. SEC 1, as tools convert it, is taken, too.
    /// - Throws: for the first of the three that cannot be used.
    public init(issuerID: String, keyID: String, privateKeyPEM: String) throws(ServerAPICredentialsError) {
        guard Self.isID(issuerID) else { throw .wrongIssuerID }
        guard Self.isID(keyID) else { throw .wrongKeyID }
        guard privateKeyPEM.contains("-----BEGIN ") else { throw .notPEM }
        guard privateKeyPEM.contains("PRIVATE KEY-----") else { throw .notPrivateKey }
        do throws(PrivateKey.Unusable) { privateKey = try PrivateKey(p256PEM: privateKeyPEM) } catch { throw .notP256 }
        self.issuerID = issuerID
        self.keyID = keyID
    }

    /// A space or a line break that was copied along would only show as 401 at the first purchase.
    private static func isID(_ text: String) -> Bool {
        (1...maxIDBytes).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}

extension ServerAPICredentials: Hashable {
    public static func == (left: Self, right: Self) -> Bool {
        left.issuerID == right.issuerID && left.keyID == right.keyID && left.privateKey == right.privateKey
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(keyID) }
}

/// Why credentials cannot be used: the configuration must be mended. Holds nothing of them.
public enum ServerAPICredentialsError: String, Error, Hashable, Sendable, CaseIterable {
    case wrongIssuerID = "The issuer id is empty, too long, or has a character that no id has."
    case wrongKeyID = "The key id is empty, too long, or has a character that no id has."
    /// The key is no text in PEM; it may be empty, or a file of another kind.
    case notPEM = "The private key is not in PEM."
    case notPrivateKey = "The PEM text is not a private key."
    /// A private key, and not one on P-256; or it is damaged, cut off, or locked with a password.
    case notP256 = "The private key is not one on P-256, or it is damaged."

    public var detail: String { rawValue }
}

public struct BearerToken: Hashable, Sendable, RedactedSecret {
    /// For the request's header only.
    public let text: String
    /// Tells a token from those that its mint made before.
    let number: Int
}

/// Makes an app's bearer tokens: one for thousands of requests, and a new one in time. Shared by all threads.
///
/// [Generating JSON Web
/// Tokens](https://developer.apple.com/documentation/appstoreserverapi/generating-json-web-tokens-for-api-requests)
public final class TokenMint: Sendable {
    /// From `iat` to `exp`; Apple takes at most an hour.
    public static let lifetime: Duration = .seconds(20 * 60)
    /// Age at which a token is replaced. It is below half of a token's life, so that a token in use has minutes left
    /// even if Apple's clock differs.
    public static let renewalAge: Duration = .seconds(9 * 60)
    /// How far back `iat` is set, so that a clock that is a little fast makes no token of the future.
    public static let backdating: Duration = .seconds(30)
    /// A token younger than this is not replaced when refused. A new token by the same key and clock would be refused,
    /// too, and every caller with a wrong key would cause a signature. The value also bounds how far callers' clock
    /// readings may be out of order, because they are taken before the lock.
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

    public init(credentials: ServerAPICredentials, bundleID: BundleID) {
        self.credentials = credentials
        self.bundleID = bundleID
    }

    /// The token to use now. Signing takes microseconds, so callers may wait for each other.
    /// - Returns: nil if the cryptographic library cannot sign, for want of random numbers.
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

    var made: Int { state.withLock { $0.made } }

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
