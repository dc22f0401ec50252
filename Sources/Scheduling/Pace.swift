/// Spreads work over time: no second has more than so much of it, whenever it comes. Pure.
public struct Pace: Hashable, Sendable {
    private let perSecond: Int
    private var next: Instant

    public init(perSecond: Int, from now: Instant) {
        self.perSecond = perSecond
        next = now
    }

    /// Most at once, so that pauses are short.
    public var portion: Int { max(1, perSecond / 10) }

    /// The pause before so much may be done.
    public mutating func pause(before count: Int, now: Instant) -> Duration {
        let start = max(next, now)
        next = start + Duration.seconds(count) / perSecond
        return start - now
    }
}
