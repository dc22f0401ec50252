internal import CertificateMaking
public import Contract
internal import Cryptography
internal import FoundationEssentials
internal import Glibc

/// A key for the App Store Server API, as App Store Connect gives out In-App Purchase keys.
///
/// Only simulators that are configured with it accept it.
public struct ServerAPIKey: Sendable {
    /// Names the team: a UUID.
    public let issuerID: String
    /// Names the key: ten letters and digits.
    public let keyID: String
    let privateKey: PrivateKey

    /// The private key as a `.p8` file holds it: PKCS #8, PEM.
    public let privateKeyPEM: String
    /// The public key, PEM: a simulator needs to know it.
    public let publicKeyPEM: String

    /// Draws a new key and its names.
    ///
    /// - Throws: ``SignedDataError/signingFailed`` when OpenSSL has no randomness.
    public init() throws(SignedDataError) {
        do throws(MakingFailed) {
            privateKey = try .make(.p256)
            privateKeyPEM = try privateKey.pem
            publicKeyPEM = try privateKey.publicKey.pem
        } catch {
            throw .signingFailed
        }
        issuerID = UUID().uuidString.lowercased()
        keyID = String((0..<10).compactMap { _ in "ABCDEFGHJKLMNPQRSTUVWXYZ23456789".randomElement() })
    }

    /// Writes the `.p8` file, readable by its owner only.
    /// - Throws: ``SimulatorError/unwritable(file:)``, also if there is such a file already.
    public func save(to file: String) throws(SimulatorError) {
        let descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .unwritable(file: file) }
        defer { close(descriptor) }
        let bytes = Array(privateKeyPEM.utf8)
        guard write(descriptor, bytes, bytes.count) == bytes.count else { throw .unwritable(file: file) }
    }

    /// A bearer token as clients make them (Apple, "Generating JSON Web Tokens for API requests").
    ///
    /// - Parameters:
    ///   - lifetime: Apple takes at most an hour.
    ///   - header: Changes of the header, to forge it.
    ///   - claims: Changes of the claims, to forge them.
    /// - Throws: ``SignedDataError/signingFailed``.
    public func token(
        bundleID: BundleID, issuedAt: Timestamp, lifetime: Duration = .seconds(600), header: [MemberChange] = [],
        claims: [MemberChange] = []
    ) throws(SignedDataError) -> String {
        var head = JSONText()
        head.add("alg", "ES256")
        head.add("kid", keyID)
        head.add("typ", "JWT")
        head.apply(header)
        let seconds = issuedAt.milliseconds / 1000
        var body = JSONText()
        body.add("iss", issuerID)
        body.add("iat", seconds)
        body.add("exp", seconds + lifetime.components.seconds)
        body.add("aud", BearerToken.audience)
        body.add("bid", bundleID.rawValue)
        body.apply(claims)
        let text = Base64URL.encode(head.text.utf8) + "." + Base64URL.encode(body.text.utf8)
        return try text + "." + privateKey.base64Signature(of: text)
    }
}
