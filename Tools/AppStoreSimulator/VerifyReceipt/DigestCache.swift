internal import Cryptography

/// Remembers the digests of receipts whose signature was found good, forgetting the oldest when it is full.
struct DigestCache: Sendable {
    /// About 10 MB of digests.
    static let defaultLimit = 100_000

    private let limit: Int
    private var digests: Set<SHA256Digest> = []
    private var order: [SHA256Digest] = []
    /// Where the oldest digest stands once the cache is full.
    private var oldest = 0

    init(limit: Int) {
        self.limit = max(1, limit)
    }

    func contains(_ digest: SHA256Digest) -> Bool {
        digests.contains(digest)
    }

    mutating func insert(_ digest: SHA256Digest) {
        guard digests.insert(digest).inserted else { return }
        guard order.count == limit else {
            order.append(digest)
            return
        }
        digests.remove(order[oldest])
        order[oldest] = digest
        oldest = (oldest + 1) % limit
    }
}
