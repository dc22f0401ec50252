import CertificateMaking
import Cryptography
import Testing

@testable import AppStore

@Suite("Credentials of the App Store Server API")
struct ServerAPICredentialsTests {
    private static let pem = Result { try PrivateKey.new(.p256).pem }

    private func credentials(
        issuerID: String = "57246542-96fe-1a63-e053-0824d011072a", keyID: String = "2X9R4HXF34",
        _ pem: String? = nil
    ) throws -> ServerAPICredentials {
        try ServerAPICredentials(issuerID: issuerID, keyID: keyID, privateKeyPEM: try pem ?? Self.pem.get())
    }

    @Test("take the key as Apple gives it out")
    func genuine() throws {
        let pem = try Self.pem.get()
        #expect(pem.hasPrefix("-----BEGIN PRIVATE KEY-----"))
        #expect(try credentials(pem + "\n").privateKey == PrivateKey(p256PEM: pem))
    }

    /// Texts that are no key, by name: a test's name is printed, and a key is not.
    private static func wrongKeys() throws -> [String: (pem: String, error: ServerAPICredentialsError)] {
        [
            "nothing": ("", .notPEM), "other text": ("x", .notPEM),
            "cut off": (String(try pem.get().prefix(80)), .notP256),
            "public key": (try PrivateKey.new(.p256).publicKey.pem, .notPrivateKey),
            "damaged": ("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----", .notP256),
            "P-384": (try PrivateKey.new(.p384).pem, .notP256),
        ]
    }

    @Test(
        "say what about the key is wrong",
        arguments: ["nothing", "other text", "cut off", "public key", "damaged", "P-384"])
    func wrongKey(name: String) throws {
        let wrong = try #require(try Self.wrongKeys()[name])
        #expect(throws: wrong.error) { try credentials(wrong.pem) }
    }

    @Test(
        "an id that cannot be one is noticed before Apple refuses it",
        arguments: ["", " ", "2X9R4HXF34\n", "2X9R 4HXF34", "ключ", String(repeating: "a", count: 129)])
    func wrongID(id: String) {
        #expect(throws: ServerAPICredentialsError.wrongIssuerID) { try credentials(issuerID: id) }
        #expect(throws: ServerAPICredentialsError.wrongKeyID) { try credentials(keyID: id) }
    }

    @Test("every error says something of its own, and nothing of the key")
    func details() {
        #expect(Set(ServerAPICredentialsError.allCases.map(\.detail)).count == ServerAPICredentialsError.allCases.count)
    }

    @Test("do not show themselves")
    func redacted() throws {
        let credentials = try credentials()
        var shown = "\(credentials) \(String(reflecting: credentials)) \([credentials])"
        dump(credentials, to: &shown)
        #expect(!shown.contains("2X9R4HXF34") && !shown.contains("57246542"))
    }

    @Test("are equal if issuer, id and key are")
    func equality() throws {
        let other = try PrivateKey.new(.p256).pem
        #expect(try credentials() == credentials())
        #expect(try credentials() != credentials(other))
        #expect(try credentials() != credentials(keyID: "OTHER"))
        #expect(try Set([credentials(), credentials()]).count == 1)
    }
}
