/// Paces calls so that a published limit is never passed, over any second and over any hour. Pure: it is told the time.
///
/// Apple states its limits by the second and enforces them by the hour. Calls are spaced evenly, so both hold at once
/// and no hour needs to be counted. A burst at the end of one second and another at the start of the next would be
/// within the limit by one clock's seconds and not by Apple's; and a worker that starts anew has nothing to remember.
public struct RateBudget: Hashable, Sendable {
    /// When a call may be made.
    public enum Slot: Hashable, Sendable {
        /// From the given moment on, which is kept for this caller.
        case at(Duration)
        /// Too many wait already: ask again from then on.
        case full(until: Duration)
    }

    /// How far ahead tries are given the moments of their first calls. Callers hold a place among those in flight while they wait.
    public static let horizon: Duration = .seconds(1)
    /// How far ahead a try that goes on is given the moment of its next call, or four calls ahead where that is longer. Sent away
    /// it would begin anew and spend the same calls again, for ever where calls are further apart than the horizon. There are few
    /// such: while they wait, the horizon lets nobody begin.
    public static let horizonOnTheWay: Duration = .seconds(30)
    private let spacing: Duration
    private var next: Duration = .zero
    private var pausedUntil: Duration = .zero

    /// A budget of so many calls a second.
    ///
    /// - Parameter share: this worker's part of it, above 0 and at most 1; the parts of all workers are to add up to 1.
    public init(perSecond limit: Double, share: Double = 1) {
        // In whole calls, so that the parts of an hour that workers have add up to no more than the hour; one at least.
        let callsPerHour = max(limit * min(max(share, 0), 1) * Self.hourInSeconds, 1).rounded(.down)
        // Rounded up: what is too short by a fraction lets one call too many into an hour.
        spacing = .nanoseconds(Int64((Self.hourInSeconds * 1_000_000_000 / callsPerHour).rounded(.up)))
    }

    private static let hourInSeconds = 3600.0

    /// Asks for the next call's moment.
    ///
    /// - Parameters:
    ///   - elapsed: time on a clock that only goes forward.
    ///   - isOnTheWay: whether the call goes on with what other calls have begun.
    public mutating func reserve(elapsed: Duration, isOnTheWay: Bool) -> Slot {
        let moment = max(elapsed, next)
        let horizon = isOnTheWay ? max(Self.horizonOnTheWay, spacing * 4) : Self.horizon
        guard moment - elapsed <= horizon else { return .full(until: moment - horizon) }
        next = moment + spacing
        return .at(moment)
    }

    /// Apple asked for a pause: no moment before its end is given any more, and those that were given do not count
    /// (``isPaused(elapsed:)``).
    public mutating func close(until elapsed: Duration) {
        pausedUntil = max(pausedUntil, elapsed)
        next = max(next, elapsed)
    }

    /// Whether a pause lasts. Who had a moment asks for another.
    public func isPaused(elapsed: Duration) -> Bool { elapsed < pausedUntil }
}
