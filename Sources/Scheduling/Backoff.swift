/// Exponential backoff with jitter: delays whose ceiling doubles with every failure, up to a cap.
///
/// Jitter spreads a crowd that failed together, so that it does not come back together (AWS Architecture Blog,
/// "Exponential Backoff And Jitter").
@frozen
public struct Backoff: Hashable, Sendable {
    /// The part of the ceiling that chance decides.
    @frozen
    public enum Jitter: Hashable, Sendable {
        /// From zero up to the ceiling: spreads best, and may try again at once.
        case full
        /// From half of the ceiling up to it: never at once.
        case equal
    }

    public let base: Duration
    public let cap: Duration
    public let jitter: Jitter

    /// A backoff by its first and its highest ceiling; negative ones count as zero.
    @inlinable
    public init(base: Duration, cap: Duration, jitter: Jitter = .full) {
        self.base = max(base, .zero)
        self.cap = max(cap, .zero)
        self.jitter = jitter
    }

    /// The longest delay after so many failures: the base after the first, twice as long after each further one.
    @inlinable
    public func ceiling(afterFailures failures: Int) -> Duration {
        let base = base.clampedNanoseconds
        let cap = cap.clampedNanoseconds
        let doublings = min(max(failures, 1) - 1, 62)
        // A shift that would lose bits gives more than the cap anyway.
        guard base <= cap >> Int64(doublings) else { return .nanoseconds(cap) }
        return .nanoseconds(base << Int64(doublings))
    }

    /// A delay to wait after so many failures in a row, counted from 1.
    @inlinable
    public func delay(
        afterFailures failures: Int, using generator: inout some RandomNumberGenerator
    ) -> Duration {
        let ceiling = ceiling(afterFailures: failures).clampedNanoseconds
        let floor =
            switch jitter {
            case .full: Int64(0)
            case .equal: ceiling / 2
            }
        return .nanoseconds(Int64.random(in: floor...ceiling, using: &generator))
    }
}
