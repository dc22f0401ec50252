public import Cryptography

/// Tells whether two submissions under one id make the same claim.
///
/// It is SHA-256 over app, submission, user, order, account token, product, transaction and evidence, which decide the
/// outcome. Members that a producer may send differently the second time are left out: `submittedAt` and `environment`.
/// It is computed only where a row needs it, because a receipt's digest costs more than reading it.
public struct ClaimDigest: Hashable, Comparable, Sendable, CustomStringConvertible {
    public let digest: SHA256Digest

    public init(_ digest: SHA256Digest) { self.digest = digest }

    public init(of submission: Submission) {
        var text: [UInt8] = []
        text.reserveCapacity(512)
        text.append(contentsOf: "claim/1".utf8)
        Self.append(submission.bundleID.rawValue.utf8, to: &text)
        Self.append(submission.id.rawValue.utf8, to: &text)
        Self.append(submission.userID.rawValue.utf8, to: &text)
        Self.append(submission.orderID?.rawValue.utf8, to: &text)
        Self.append(submission.claim.appAccountToken?.utf8, to: &text)
        Self.append(submission.claim.productID?.rawValue.utf8, to: &text)
        Self.append(submission.claim.transactionID?.rawValue.utf8, to: &text)
        var hash = SHA256()
        switch submission.evidence {
        case .receipt(let base64):
            text.append(UInt8(ascii: "r"))
            Self.finish(base64.bytes, behind: &text, into: &hash)
        case .signedTransaction(let jws):
            text.append(UInt8(ascii: "s"))
            Self.finish(jws.bytes, behind: &text, into: &hash)
        case .transactionID(let id):
            text.append(UInt8(ascii: "t"))
            Self.finish(Array(id.rawValue.utf8)[...], behind: &text, into: &hash)
        }
        digest = hash.finish()
    }

    public static func < (first: Self, second: Self) -> Bool { first.digest < second.digest }

    /// Digests a malformed submission: all of its bytes, because its members are not certain.
    init(malformed value: [UInt8]) {
        var hash = SHA256()
        hash.update(Array("malformed/1".utf8))
        hash.update(value)
        digest = hash.finish()
    }

    /// Hashes the gathered bytes, then the evidence without a copy.
    private static func finish(_ evidence: ArraySlice<UInt8>, behind text: inout [UInt8], into hash: inout SHA256) {
        appendLength(evidence.count, to: &text)
        hash.update(text)
        hash.update(evidence)
    }

    /// The mark of an absent part differs from that of an empty one.
    private static func append(_ part: String.UTF8View?, to text: inout [UInt8]) {
        guard let part else { return text.append(0) }
        text.append(1)
        appendLength(part.count, to: &text)
        text.append(contentsOf: part)
    }

    private static func appendLength(_ count: Int, to text: inout [UInt8]) {
        for shift in stride(from: 56, through: 0, by: -8) {
            text.append(UInt8(truncatingIfNeeded: count >> shift))
        }
    }

    public var description: String { digest.hex }
}
