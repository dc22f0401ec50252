import Scheduling

/// How often each token may ask: so many at once, and so many a second in the long run.
struct APIBudget: Sendable {
    static let burst = 40.0
    static let perSecond = 20.0

    /// By the indices of tokens, of which the file has a bounded number.
    private var buckets: [Int: TokenBucket] = [:]

    /// Takes one request of a token's.
    /// - Returns: Nil if it may be answered; else after how many seconds the next one may.
    mutating func take(_ token: Int, at now: Instant) -> Int? {
        let full = TokenBucket(burst: Self.burst, perSecond: Self.perSecond)
        return buckets[token, default: full].take(at: now) ? nil : 1
    }

    /// Forgets all, as after a change of the tokens file: indices mean other tokens then.
    mutating func reset() { buckets = [:] }
}
