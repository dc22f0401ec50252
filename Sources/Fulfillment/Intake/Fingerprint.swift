import Crypto

/// Tells whether two submissions under one id claim the same.
enum Fingerprint {
    /// SHA-256 over the members that decide the outcome, each with its length in front, in lower-case hex.
    static func of(_ members: SubmissionMembers, submissionID: String, userID: String) -> String {
        var hash = SHA256()
        add(submissionID, to: &hash)
        add(userID, to: &hash)
        for name in decisive { add(members.text(name), to: &hash) }
        return hex(hash.finalize())
    }

    /// `submittedAt` and `environment` are left out: a producer may well send them differently the second time.
    private static let decisive = [
        "bundleId", "receipt", "signedTransaction", "transactionId", "productId", "orderId", "appAccountToken",
    ]

    private static func add(_ text: String?, to hash: inout SHA256) {
        guard let text else { return hash.update(data: [0]) }
        let bytes = Array(text.utf8)
        var head: [UInt8] = [1]
        for shift in stride(from: 56, through: 0, by: -8) {
            head.append(UInt8(truncatingIfNeeded: bytes.count >> shift))
        }
        hash.update(data: head)
        hash.update(data: bytes)
    }

    private static func hex(_ digest: SHA256.Digest) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(64)
        for byte in digest {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }
}
