internal import Scheduling

/// A moment of wall-clock time, in whole milliseconds since 1970-01-01T00:00:00Z.
///
/// Milliseconds are what Apple's `_ms` fields, Kafka's record timestamps and the events carry.
public struct Timestamp: Hashable, Sendable, Comparable, Codable, CustomStringConvertible {
    /// Milliseconds since the UNIX epoch; negative before it.
    public let milliseconds: Int64

    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// The moment by the host's wall clock, in whole milliseconds; it goes back where that clock is set back.
    public static var now: Timestamp { Timestamp(milliseconds: WallClock.milliseconds) }

    /// Reads an RFC 3339 date-time, with or without a fraction of a second; nil for anything else.
    ///
    /// The fraction may have one to nine digits and is rounded to the millisecond.
    public init?(rfc3339 text: String) { self.init(rfc3339: text.utf8Span.span) }

    /// The same for a text that is a part of a larger one.
    public init?(rfc3339 text: borrowing Span<UInt8>) {
        guard let milliseconds = CivilText.milliseconds(rfc3339: text) else { return nil }
        self.init(milliseconds: milliseconds)
    }

    /// RFC 3339, UTC, with milliseconds: `2026-11-21T04:59:13.250Z`.
    ///
    /// The form has years 0000 to 9999 only; a moment before or after is written as the first or the last of them.
    public var rfc3339: String {
        String(unsafeUninitializedCapacity: CivilText.byteCount) { text in
            let civil = CivilText.rfc3339(milliseconds: milliseconds)
            for index in civil.indices { text[index] = civil[index] }
            return CivilText.byteCount
        }
    }

    public var description: String { rfc3339 }

    /// The moment a duration later, to the millisecond, saturating at the ends of the range.
    public func advanced(by duration: Duration) -> Timestamp {
        let (sum, overflow) = milliseconds.addingReportingOverflow(duration.wholeMilliseconds)
        guard overflow else { return Timestamp(milliseconds: sum) }
        return Timestamp(milliseconds: duration < .zero ? .min : .max)
    }

    /// How long after an earlier moment this one is; negative if it is before it.
    public func since(_ earlier: Timestamp) -> Duration {
        let (difference, overflow) = milliseconds.subtractingReportingOverflow(earlier.milliseconds)
        guard overflow else { return .milliseconds(difference) }
        return .milliseconds(milliseconds < earlier.milliseconds ? Int64.min / 1000 : Int64.max / 1000)
    }

    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.milliseconds < right.milliseconds
    }
}

extension Duration {
    /// The duration in whole milliseconds, rounded towards zero, saturating at the ends of `Int64`.
    public var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        guard !overflow else { return seconds < 0 ? .min : .max }
        let (sum, overflowAgain) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
        return overflowAgain ? (seconds < 0 ? .min : .max) : sum
    }
}
