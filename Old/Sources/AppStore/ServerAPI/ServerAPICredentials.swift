import Crypto
import SwiftASN1

/// An app's key for the App Store Server API. It does not show itself in any description or dump.
///
/// [Creating API keys](https://developer.apple.com/documentation/appstoreserverapi/creating-api-keys-to-authorize-api-requests)
public struct ServerAPICredentials: Sendable {
    /// Longest id that is taken, in bytes. Apple's have 36 and 10.
    static let maxIDBytes = 128

    /// Names the team that the key belongs to.
    public let issuerID: String
    /// Names the key.
    public let keyID: String
    let privateKey: P256.Signing.PrivateKey

    /// Credentials as App Store Connect gives them out. One key serves both of Apple's environments.
    ///
    /// - Parameters:
    ///   - issuerID: the issuer id, a UUID.
    ///   - keyID: the key's id, ten letters and digits.
    ///   - privateKeyPEM: the text of the `.p8` file: PKCS #8, P-256.
    /// - Throws: which of the three cannot be used.
    public init(issuerID: String, keyID: String, privateKeyPEM: String) throws(ServerAPICredentialsError) {
        guard Self.isID(issuerID) else { throw .wrongIssuerID }
        guard Self.isID(keyID) else { throw .wrongKeyID }
        guard let document = try? PEMDocument(pemString: privateKeyPEM) else { throw .notPEM }
        guard Self.keyNames.contains(document.discriminator) else { throw .notPrivateKey }
        guard let key = try? P256.Signing.PrivateKey(pemRepresentation: privateKeyPEM) else { throw .notP256 }
        self.issuerID = issuerID
        self.keyID = keyID
        privateKey = key
    }

    /// PKCS #8, as Apple has it, and SEC 1, as tools convert it.
    private static let keyNames: Set<String> = ["PRIVATE KEY", "EC PRIVATE KEY"]

    /// A space or a line break that was copied along would only show as 401 at the first purchase.
    private static func isID(_ text: String) -> Bool {
        (1...maxIDBytes).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}

extension ServerAPICredentials: Hashable {
    public static func == (left: Self, right: Self) -> Bool {
        left.issuerID == right.issuerID && left.keyID == right.keyID
            && left.privateKey.publicKey.rawRepresentation == right.privateKey.publicKey.rawRepresentation
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(issuerID)
        hasher.combine(keyID)
    }
}

extension ServerAPICredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "<redacted>" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Why credentials cannot be used: the configuration must be mended. Holds nothing of them.
public enum ServerAPICredentialsError: Error, Hashable, Sendable, CaseIterable {
    /// The issuer id is empty, longer than an id, or has a character that is none of printable ASCII, such as a space.
    case wrongIssuerID
    /// The same of the key's id.
    case wrongKeyID
    /// The key is no text in PEM; it may be empty, cut off, or a file of another kind.
    case notPEM
    /// The PEM text is something else than a private key, such as a certificate or a public key.
    case notPrivateKey
    /// A private key, and not one on P-256, or damaged.
    case notP256

    /// What is wrong, in one sentence for people.
    public var detail: String {
        switch self {
        case .wrongIssuerID: "The issuer id is empty, too long, or has a character that no id has."
        case .wrongKeyID: "The key id is empty, too long, or has a character that no id has."
        case .notPEM: "The private key is not in PEM."
        case .notPrivateKey: "The PEM text is not a private key."
        case .notP256: "The private key is not one on P-256, or it is damaged."
        }
    }
}
