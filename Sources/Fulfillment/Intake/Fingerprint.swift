import Crypto

/// Tells whether two submissions under one id claim the same.
enum Fingerprint {
    /// SHA-256 over the members that decide the outcome, each with its length in front, in lower-case hex.
    static func of(_ members: SubmissionMembers, submissionID: String, userID: String) -> String {
        var text: [UInt8] = []
        let parts = [submissionID, userID] + decisive.map(members.text)
        text.reserveCapacity(parts.reduce(0) { $0 + 1 + lengthBytes + ($1?.utf8.count ?? 0) })
        for part in parts { add(part, to: &text) }
        return hex(SHA256.hash(data: text))
    }

    /// `submittedAt` and `environment` are left out: a producer may well send them differently the second time.
    private static let decisive = [
        "bundleId", "receipt", "signedTransaction", "transactionId", "productId", "orderId", "appAccountToken",
    ]

    private static let lengthBytes = 8

    private static func add(_ part: String?, to text: inout [UInt8]) {
        guard let part else { return text.append(0) }
        text.append(1)
        for shift in stride(from: 56, through: 0, by: -8) {
            text.append(UInt8(truncatingIfNeeded: part.utf8.count >> shift))
        }
        text.append(contentsOf: part.utf8)
    }

    private static let digits = Array("0123456789abcdef".utf8)

    private static func hex(_ digest: SHA256.Digest) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(64)
        for byte in digest {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }
}
