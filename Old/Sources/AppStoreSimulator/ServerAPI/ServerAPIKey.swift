import Crypto
public import Foundation
public import Purchases

#if canImport(Glibc)
    import Glibc
#endif

/// A key for the App Store Server API, as App Store Connect gives out In-App Purchase keys.
///
/// It is worth something only to simulators that were told to accept it.
public struct ServerAPIKey: Sendable {
    /// Names the team: a UUID.
    public let issuerID: String
    /// Names the key: ten letters and digits.
    public let keyID: String
    let privateKey: P256.Signing.PrivateKey

    /// Draws a new key and its names.
    public init() {
        issuerID = UUID().uuidString.lowercased()
        keyID = String((0..<10).compactMap { _ in "ABCDEFGHJKLMNPQRSTUVWXYZ23456789".randomElement() })
        privateKey = P256.Signing.PrivateKey()
    }

    /// The private key as a `.p8` file holds it: PKCS #8, PEM.
    public var privateKeyPEM: String { privateKey.pemRepresentation + "\n" }

    /// The public key, PEM: what a simulator needs to know.
    public var publicKeyPEM: String { privateKey.publicKey.pemRepresentation + "\n" }

    /// Writes the `.p8` file, readable by its owner only.
    /// - Throws: ``SimulatorError/unwritable(file:)``, also if there is such a file already.
    public func save(to file: URL) throws(SimulatorError) {
        let descriptor = open(file.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .unwritable(file: file.path) }
        do {
            let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
            try handle.write(contentsOf: Data(privateKeyPEM.utf8))
            try handle.close()
        } catch {
            throw .unwritable(file: file.path)
        }
    }

    /// A bearer token as clients make them (Apple, "Generating JSON Web Tokens for API requests").
    ///
    /// - Parameters:
    ///   - lifetime: Apple takes at most an hour.
    ///   - header: Changes of the header, to forge it.
    ///   - claims: Changes of the claims, to forge them.
    /// - Throws: ``SignedDataError/signingFailed(_:)``.
    public func token(
        bundleID: BundleID, issuedAt: Timestamp, lifetime: Duration = .seconds(600), header: [MemberChange] = [],
        claims: [MemberChange] = []
    ) throws(SignedDataError) -> String {
        var head = JSONObject()
        head.add("alg", "ES256")
        head.add("kid", keyID)
        head.add("typ", "JWT")
        head.apply(header)
        let seconds = issuedAt.milliseconds / 1000
        var body = JSONObject()
        body.add("iss", issuerID)
        body.add("iat", seconds)
        body.add("exp", seconds + lifetime.components.seconds)
        body.add("aud", BearerToken.audience)
        body.add("bid", bundleID.rawValue)
        body.apply(claims)
        let text = Base64URL.encode(head.text.utf8) + "." + Base64URL.encode(body.text.utf8)
        do {
            return text + "." + Base64URL.encode(try privateKey.signature(for: Data(text.utf8)).rawRepresentation)
        } catch {
            throw .signingFailed(ErrorWords.of(error))
        }
    }
}
