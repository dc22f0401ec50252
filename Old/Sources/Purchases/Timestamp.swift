import Foundation

/// A moment of wall-clock time, in whole milliseconds since 1970-01-01T00:00:00Z.
///
/// Milliseconds are what Apple's `_ms` fields, Kafka's record timestamps and the events carry.
public struct Timestamp: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// Milliseconds since the UNIX epoch; negative before it.
    public let milliseconds: Int64

    /// The moment so many milliseconds after the UNIX epoch.
    public init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// Reads an RFC 3339 date-time, with or without a fraction of a second; nil for anything else.
    public init?(rfc3339 text: String) {
        // The styles read a prefix and let the rest be, so the form is checked as a whole before.
        guard let hasFraction = Self.hasFraction(Array(text.utf8)) else { return nil }
        guard let date = try? (hasFraction ? Self.withFraction : Self.withoutFraction).parse(text) else { return nil }
        let seconds = date.timeIntervalSince1970
        guard seconds.isFinite, abs(seconds) < 253_402_300_800 else { return nil }
        self.init(milliseconds: Int64((seconds * 1000).rounded()))
    }

    /// Whether a text of the form `2026-11-21T04:59:13[.fff](Z|+hh:mm)` has a fraction; nil for another form.
    private static func hasFraction(_ text: [UInt8]) -> Bool? {
        let head = Array("dddd-dd-ddTdd:dd:dd".utf8)
        guard text.count > head.count, matches(text[..<head.count], head) else { return nil }
        var rest = text[head.count...]
        let hasFraction = rest.first == UInt8(ascii: ".")
        if hasFraction {
            let digits = rest.dropFirst().prefix { (0x30...0x39).contains($0) }
            guard (1...9).contains(digits.count) else { return nil }
            rest = rest.dropFirst(1 + digits.count)
        }
        let zones = ["Z", "+dd:dd", "-dd:dd"]
        return zones.contains { matches(rest, Array($0.utf8)) } ? hasFraction : nil
    }

    /// Compares with a pattern in which `d` stands for a digit.
    private static func matches(_ text: ArraySlice<UInt8>, _ pattern: [UInt8]) -> Bool {
        text.count == pattern.count
            && zip(text, pattern).allSatisfy { byte, expected in
                expected == UInt8(ascii: "d") ? (0x30...0x39).contains(byte) : byte == expected
            }
    }

    /// RFC 3339, UTC, with milliseconds: `2026-11-21T04:59:13.250Z`.
    public var rfc3339: String {
        if let text = CivilText.rfc3339(milliseconds: milliseconds) { return text }
        // The style cuts off below the millisecond, and a Double is often a little less than the decimal it stands for.
        return Date(timeIntervalSince1970: (Double(milliseconds) + 0.5) / 1000).formatted(Self.withFraction)
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

    private static let withFraction = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    private static let withoutFraction = Date.ISO8601FormatStyle()
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
