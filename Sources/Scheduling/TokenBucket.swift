/// Tokens that come back with time: at most a burst of them at once, and so many a second in the long run. Pure.
///
/// It is full at first. A moment before an earlier one adds nothing.
public struct TokenBucket: Sendable {
    private var burst: Double
    public private(set) var perSecond: Double
    /// As many as there were at the latest moment, with what was added and taken since.
    public private(set) var tokens: Double
    private var filledAt = Instant(nanoseconds: 0)

    public init(burst: Double, perSecond: Double) {
        self.burst = burst
        self.perSecond = perSecond
        tokens = burst
    }

    /// Changes what comes back; tokens that were used stay used.
    public mutating func change(burst: Double, perSecond: Double) {
        self.burst = burst
        self.perSecond = perSecond
        tokens = min(tokens, burst)
    }

    /// The tokens that there are now.
    public mutating func available(at now: Instant) -> Double {
        if now > filledAt {
            tokens = min(burst, tokens + (now - filledAt) / .seconds(1) * perSecond)
            filledAt = now
        }
        return tokens
    }

    /// Takes a token, if there is one.
    public mutating func take(at now: Instant) -> Bool {
        guard available(at: now) >= 1 else { return false }
        tokens -= 1
        return true
    }

    /// Adds tokens, or takes them where the number is negative; never beyond the burst or below none.
    public mutating func add(_ count: Double) { tokens = min(burst, max(0, tokens + count)) }

    /// When there is a token, if none is added or taken before. Rounded up, so that it is there at that moment.
    public var nextMoment: Instant { filledAt + .seconds(max(0, 1 - tokens) / perSecond) + .milliseconds(1) }
}
