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

/// Seeded randomness for jitter and simulations: one seed gives one sequence, on every machine.
///
/// The generator is SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
/// It is fast and well spread. Never use it for secrets: anybody who sees a few outputs can compute the rest.
@frozen
public struct SplitMix64: RandomNumberGenerator, Sendable {
    @usableFromInline var state: UInt64

    /// A generator whose sequence the seed fixes; neighbouring seeds give unrelated sequences.
    @inlinable
    public init(seed: UInt64) { state = seed }

    @inlinable
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
