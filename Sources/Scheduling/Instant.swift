import Glibc

/// The host's wall clock. It may be set back or jump ahead; ``Instant`` measures durations.
public enum WallClock {
    /// Milliseconds since 1970-01-01T00:00:00Z, without leap seconds.
    public static var milliseconds: Int64 {
        var time = timespec()
        // Fails only for a clock that does not exist.
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}

/// A moment of the system's monotonic clock (`CLOCK_MONOTONIC`), which no clock adjustment moves.
///
/// Instants of one boot of one machine can be compared; they mean nothing elsewhere and are never stored. Arithmetic
/// stops at the ends of the range instead of trapping, so a time limit of "for ever" needs no special case.
@frozen
public struct Instant: Hashable, Comparable, Sendable {
    /// Nanoseconds since a moment that the kernel chose.
    public let nanoseconds: Int64

    /// A moment by its nanoseconds; simulations count from zero.
    @inlinable
    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    public static var now: Instant {
        var time = timespec()
        // Fails only for a clock that does not exist.
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// The last instant there is, some 292 years after the first one.
    @inlinable
    public static var distantFuture: Instant { Instant(nanoseconds: .max) }

    @inlinable
    public static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }

    /// The instant later by a duration, to the nanosecond below.
    @inlinable
    public static func + (instant: Instant, duration: Duration) -> Instant {
        let (sum, overflow) = instant.nanoseconds.addingReportingOverflow(duration.clampedNanoseconds)
        guard overflow else { return Instant(nanoseconds: sum) }
        return Instant(nanoseconds: duration < .zero ? .min : .max)
    }

    /// The instant earlier by a duration; the first or last instant there is if that is out of range.
    @inlinable
    public static func - (instant: Instant, duration: Duration) -> Instant {
        let (difference, overflow) = instant.nanoseconds.subtractingReportingOverflow(duration.clampedNanoseconds)
        guard overflow else { return Instant(nanoseconds: difference) }
        return Instant(nanoseconds: duration < .zero ? .max : .min)
    }

    /// Moves an instant by a duration; it stops at the first or last instant there is.
    @inlinable
    public static func += (instant: inout Instant, duration: Duration) { instant = instant + duration }

    /// The time from one instant to a later one; negative if it is an earlier one.
    @inlinable
    public static func - (end: Instant, start: Instant) -> Duration {
        let (difference, overflow) = end.nanoseconds.subtractingReportingOverflow(start.nanoseconds)
        guard overflow else { return .nanoseconds(difference) }
        return .nanoseconds(end < start ? Int64.min : Int64.max)
    }
}

extension Duration {
    /// Whole nanoseconds, towards minus infinity; the nearest end of the range for a duration beyond 292 years.
    @inlinable
    public var clampedNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        // Both parts have the same sign, and the second part is below a second.
        let (quotient, remainder) = attoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return seconds < 0 ? .min : .max }
        let (sum, sumOverflow) = whole.addingReportingOverflow(remainder < 0 ? quotient - 1 : quotient)
        return sumOverflow ? (seconds < 0 ? .min : .max) : sum
    }
}

extension Optional<Instant> {
    /// Makes it the earlier one of itself and a moment; nil is never.
    @inlinable
    public mutating func bringForward(to moment: Instant?) {
        guard let moment else { return }
        self = min(self ?? moment, moment)
    }
}
