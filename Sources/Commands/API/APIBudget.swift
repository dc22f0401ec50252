import Scheduling

/// How often each token may ask: so many at once, and so many a second in the long run.
struct APIBudget: Sendable {
    static let burst = 40.0
    static let perSecond = 20.0

    private struct Bucket {
        var left = APIBudget.burst
        var at: Instant
    }

    /// By the indices of tokens, of which the file has a bounded number.
    private var buckets: [Int: Bucket] = [:]

    /// Takes one request of a token's.
    /// - Returns: Nil if it may be answered; else after how many seconds the next one may.
    mutating func take(_ token: Int, at now: Instant) -> Int? {
        var bucket = buckets[token] ?? Bucket(at: now)
        bucket.left = min(Self.burst, bucket.left + (now - bucket.at) / .seconds(1) * Self.perSecond)
        bucket.at = now
        defer { buckets[token] = bucket }
        guard bucket.left >= 1 else { return 1 }
        bucket.left -= 1
        return nil
    }

    /// Forgets all, as after a change of the tokens file: indices mean other tokens then.
    mutating func reset() { buckets = [:] }
}
