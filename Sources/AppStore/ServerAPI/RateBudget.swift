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

    /// How far ahead calls are given their moments. Callers hold a place among those in flight while they wait. A pause
    /// that Apple asks for does not take back what was given, so this is also how long calls go on after it.
    public static let horizon: Duration = .seconds(1)
    private let spacing: Duration
    private var next: Duration = .zero

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
    /// - Parameter elapsed: time on a clock that only goes forward.
    public mutating func reserve(elapsed: Duration) -> Slot {
        let moment = max(elapsed, next)
        guard moment - elapsed <= Self.horizon else { return .full(until: moment - Self.horizon) }
        next = moment + spacing
        return .at(moment)
    }

    /// Apple asked for a pause: no moment before its end is given any more.
    public mutating func close(until elapsed: Duration) {
        next = max(next, elapsed)
    }
}
