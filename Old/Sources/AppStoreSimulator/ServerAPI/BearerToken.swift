import Crypto
import Foundation
import Purchases

/// A token as a client sent it (Apple, "Generating JSON Web Tokens for API requests").
struct BearerToken: Sendable {
    /// Why a token is refused. The raw value is told to the client, which Apple does not do.
    enum Refusal: String, Error {
        case absent = "no bearer token"
        case unreadable = "the token is not a JWT with the claims that are asked for"
        case wrongAlgorithm = "the token's algorithm is not ES256"
        case unknownKey = "no key of that issuer and id is known"
        case wrongSignature = "the token's signature is wrong"
        case wrongAudience = "the token is for another audience"
        case livesTooLong = "the token expires more than an hour after it was issued"
        case expired = "the token has expired"
        case issuedInTheFuture = "the token is issued in the future"
    }

    static let audience = "appstoreconnect-v1"
    static let lifetimeLimit = 3600.0
    /// How far a client's clock may be ahead, in seconds.
    static let clockTolerance = 60.0
    /// Longer ones are not read.
    static let lengthLimit = 4096

    private struct Header: Decodable {
        let alg: String
        let kid: String
        let typ: String?
    }

    private struct Claims: Decodable {
        let iss: String
        let iat: Double
        let exp: Double
        let aud: String
        let bid: String
    }

    private let header: Header
    private let claims: Claims
    private let signed: Substring
    private let signature: Data

    var app: BundleID { BundleID(claims.bid) }

    /// Reads a token without checking anything it says.
    init(_ text: Substring) throws(Refusal) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard text.utf8.count <= Self.lengthLimit, parts.count == 3, let signature = Base64URL.decode(parts[2]),
            let header = Self.decode(Header.self, parts[0]), let claims = Self.decode(Claims.self, parts[1])
        else { throw .unreadable }
        self.header = header
        self.claims = claims
        self.signature = signature
        signed = text[..<parts[1].endIndex]
    }

    /// Whether a key that is accepted signed it, for the audience.
    func checkOrigin(_ key: (_ issuerID: String, _ keyID: String) -> P256.Signing.PublicKey?) throws(Refusal) {
        guard header.alg == "ES256", header.typ ?? "JWT" == "JWT" else { throw .wrongAlgorithm }
        guard let key = key(claims.iss, header.kid) else { throw .unknownKey }
        guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature),
            key.isValidSignature(signature, for: Data(signed.utf8))
        else { throw .wrongSignature }
        guard claims.aud == Self.audience else { throw .wrongAudience }
    }

    func checkTimes(now: Timestamp) throws(Refusal) {
        let seconds = Double(now.milliseconds) / 1000
        guard claims.exp - claims.iat <= Self.lifetimeLimit else { throw .livesTooLong }
        guard claims.exp > seconds else { throw .expired }
        guard claims.iat <= seconds + Self.clockTolerance else { throw .issuedInTheFuture }
    }

    private static func decode<Value: Decodable>(_ type: Value.Type, _ part: Substring) -> Value? {
        Base64URL.decode(part).flatMap { try? JSONDecoder().decode(type, from: $0) }
    }
}
