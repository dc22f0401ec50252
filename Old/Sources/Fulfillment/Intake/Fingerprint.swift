import Crypto

/// Tells whether two submissions under one id claim the same.
enum Fingerprint {
    /// Bytes from which on a part is hashed where it is. What is shorter is gathered: each update has a price.
    private static let longPart = 512

    /// SHA-256 over the members that decide the outcome, each with its length in front, in lower-case hex.
    static func of(_ members: SubmissionMembers, submissionID: String, userID: String) -> String {
        var hash = SHA256()
        var text: [UInt8] = []
        text.reserveCapacity(longPart)
        append(submissionID.utf8, to: &text)
        append(userID.utf8, to: &text)
        for name in decisive {
            guard let part = members.bytes(name) else {
                text.append(0)
                continue
            }
            guard part.count >= longPart else {
                append(part, to: &text)
                continue
            }
            addLength(of: part, to: &text)
            hash.update(data: text)
            text.removeAll(keepingCapacity: true)
            part.withUnsafeBytes { hash.update(bufferPointer: $0) }
        }
        hash.update(data: text)
        return hex(hash.finalize())
    }

    private static func append(_ part: some Collection<UInt8>, to text: inout [UInt8]) {
        addLength(of: part, to: &text)
        text.append(contentsOf: part)
    }

    /// `submittedAt` and `environment` are left out: a producer may well send them differently the second time.
    private static let decisive = [
        "bundleId", "receipt", "signedTransaction", "transactionId", "productId", "orderId", "appAccountToken",
    ]

    private static func addLength(of part: some Collection<UInt8>, to text: inout [UInt8]) {
        text.append(1)
        for shift in stride(from: 56, through: 0, by: -8) {
            text.append(UInt8(truncatingIfNeeded: part.count >> shift))
        }
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
