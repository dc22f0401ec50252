import Scheduling

/// At most so many calls a second, and as many at once as a second has.
struct RateLimiter: Sendable {
    private static let least = 0.001
    private var bucket: TokenBucket

    init(rate: Double) { bucket = TokenBucket(burst: max(1, rate), perSecond: max(rate, Self.least)) }

    mutating func change(to rate: Double) { bucket.change(burst: max(1, rate), perSecond: max(rate, Self.least)) }

    /// Whether one more call may be made now.
    mutating func admits(at now: Instant) -> Bool { bucket.available(at: now) >= 1 }

    mutating func take() { bucket.add(-1) }

    /// A call was not made after all.
    mutating func giveBack() { bucket.add(1) }

    /// When the next call may be made.
    var nextMoment: Instant { bucket.nextMoment }

    /// Calls that may be made within so long.
    func calls(within time: Duration) -> Int { Int(bucket.tokens + bucket.perSecond * (time / .seconds(1))) }
}
