internal import Contract
internal import Cryptography

/// A token as a client sent it (Apple, "Generating JSON Web Tokens for API requests").
struct BearerToken: Sendable {
    /// Why a token is refused. The reply has the raw value, which Apple's does not.
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

    fileprivate struct Header {
        let algorithm: String
        let keyID: String
        let type: String?
    }

    fileprivate struct Claims {
        let issuer: String
        let issuedAt: Double
        let expiresAt: Double
        let audience: String
        let bundleID: String
    }

    private let header: Header
    private let claims: Claims
    private let signed: Substring
    private let signature: [UInt8]

    var app: BundleID { BundleID(claims.bundleID) }

    /// Reads a token without checking anything it says.
    init(_ text: Substring) throws(Refusal) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard text.utf8.count <= Self.lengthLimit, parts.count == 3, let signature = Base64URL.decode(parts[2]),
            let header = Self.members(parts[0]).flatMap({ Header($0) }),
            let claims = Self.members(parts[1]).flatMap({ Claims($0) })
        else { throw .unreadable }
        self.header = header
        self.claims = claims
        self.signature = signature
        signed = text[..<parts[1].endIndex]
    }

    /// Whether a key that is accepted signed it, for the audience.
    func checkOrigin(_ key: (_ issuerID: String, _ keyID: String) -> PublicKey?) throws(Refusal) {
        guard header.algorithm == "ES256", header.type ?? "JWT" == "JWT" else { throw .wrongAlgorithm }
        guard let key = key(claims.issuer, header.keyID) else { throw .unknownKey }
        guard key.isValidES256Signature(signature, of: SHA256.hash(signed.utf8)) else { throw .wrongSignature }
        guard claims.audience == Self.audience else { throw .wrongAudience }
    }

    func checkTimes(now: Timestamp) throws(Refusal) {
        let seconds = Double(now.milliseconds) / 1000
        guard claims.expiresAt - claims.issuedAt <= Self.lifetimeLimit else { throw .livesTooLong }
        guard claims.expiresAt > seconds else { throw .expired }
        guard claims.issuedAt <= seconds + Self.clockTolerance else { throw .issuedInTheFuture }
    }

    private static func members(_ part: Substring) -> StrictJSON.Members? {
        Base64URL.decode(part).flatMap { try? StrictJSON($0).members }
    }
}

extension BearerToken.Header {
    fileprivate init?(_ members: StrictJSON.Members) {
        guard case .string(let algorithm) = members["alg"], case .string(let keyID) = members["kid"] else { return nil }
        self.algorithm = algorithm
        self.keyID = keyID
        type = if case .string(let type) = members["typ"] { type } else { nil }
    }
}

extension BearerToken.Claims {
    fileprivate init?(_ members: StrictJSON.Members) {
        guard case .string(let issuer) = members["iss"], case .string(let audience) = members["aud"],
            case .string(let bundleID) = members["bid"],
            case .number(let issuedAt) = members["iat"], let issuedAt = Double(issuedAt),
            case .number(let expiresAt) = members["exp"], let expiresAt = Double(expiresAt)
        else { return nil }
        self.issuer = issuer
        self.audience = audience
        self.bundleID = bundleID
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
    }
}
