internal import Glibc
internal import Scheduling

/// A moment of the wall clock, to the millisecond, as log lines show it.
struct WallTime: Hashable, Sendable {
    /// Since 1970-01-01T00:00:00Z, without leap seconds.
    let milliseconds: Int

    static var now: WallTime { WallTime(milliseconds: Int(WallClock.milliseconds)) }

    /// As `2026-11-21T04:59:13.250Z` (RFC 3339).
    var rfc3339: String {
        var seconds = milliseconds.quotientFloored(by: 1000)
        let fraction = milliseconds - seconds * 1000
        var fields = tm()
        gmtime_r(&seconds, &fields)
        let date = [
            Self.digits(Int(fields.tm_year) + 1900, 4), Self.digits(Int(fields.tm_mon) + 1, 2),
            Self.digits(Int(fields.tm_mday), 2),
        ].joined(separator: "-")
        let time = [fields.tm_hour, fields.tm_min, fields.tm_sec].map { Self.digits(Int($0), 2) }
            .joined(separator: ":")
        return "\(date)T\(time).\(Self.digits(fraction, 3))Z"
    }

    private static func digits(_ number: Int, _ count: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, count - text.count)) + text
    }
}

extension Int {
    fileprivate func quotientFloored(by divisor: Int) -> Int {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
