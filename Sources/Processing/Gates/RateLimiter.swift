import Scheduling

/// At most so many calls a second, and as many at once as a second has: a token bucket.
struct RateLimiter: Sendable {
    private(set) var rate: Double
    private var tokens: Double
    private var filledAt = Instant(nanoseconds: 0)

    private var burst: Double { max(1, rate) }

    init(rate: Double) {
        self.rate = max(rate, 0.001)
        tokens = max(1, self.rate)
    }

    mutating func change(to rate: Double) {
        self.rate = max(rate, 0.001)
        tokens = min(tokens, burst)
    }

    /// Whether one more call may be made now.
    mutating func admits(at now: Instant) -> Bool {
        fill(to: now)
        return tokens >= 1
    }

    mutating func take() { tokens -= 1 }

    /// A call was not made after all.
    mutating func giveBack() { tokens = min(burst, tokens + 1) }

    /// When the next call may be made.
    var nextMoment: Instant { filledAt + .seconds(max(0, 1 - tokens) / rate) + .milliseconds(1) }

    /// Calls that may be made within so long.
    func calls(within time: Duration) -> Int { Int(max(0, tokens + rate * (time / .seconds(1)))) }

    private mutating func fill(to now: Instant) {
        guard now > filledAt else { return }
        tokens = min(burst, tokens + (now - filledAt) / .seconds(1) * rate)
        filledAt = now
    }
}
