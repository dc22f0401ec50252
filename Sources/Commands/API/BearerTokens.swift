import Configuration
import Cryptography
import HTTPServer

/// The tokens that may ask, as digests: the tokens themselves are not kept.
struct BearerTokens: Sendable {
    private let digests: [SHA256Digest]

    init(_ tokens: [SecretText]) { digests = tokens.map { SHA256.hash(Array($0.revealed().utf8)) } }

    var count: Int { digests.count }

    /// The index of the token in a request's `Authorization` (RFC 6750, section 2.1); nil if it is none of ours.
    ///
    /// Every digest is compared, whole, so that the time says nothing of how much of a guess was right.
    func place(of head: RequestHead) -> Int? {
        guard let field = head["authorization"] else { return nil }
        let parts = field.split(separator: " ", omittingEmptySubsequences: true)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        let given = SHA256.hash(Array(parts[1].utf8))
        var found: Int?
        for (place, digest) in digests.enumerated() {
            if Self.differences(given, digest) == 0 { found = place }
        }
        return found
    }

    private static func differences(_ one: SHA256Digest, _ other: SHA256Digest) -> UInt8 {
        one.withUnsafeBytes { one in
            other.withUnsafeBytes { other in zip(one, other).reduce(0) { $0 | ($1.0 ^ $1.1) } }
        }
    }
}
