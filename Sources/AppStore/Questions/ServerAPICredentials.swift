internal import Cryptography

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
