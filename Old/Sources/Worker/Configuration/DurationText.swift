/// Durations as people write them in configuration: `24h`, `15m`, `90s`, `500ms`, `7d`; a bare number is seconds.
enum DurationText {
    private static let units: [(suffix: String, milliseconds: Int64)] = [
        ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000), ("", 1000),
    ]

    /// The duration, or nil for a text of another form or out of the range of milliseconds in 64 bits.
    static func parse(_ text: String) -> Duration? {
        for unit in units where text.hasSuffix(unit.suffix) {
            let digits = text.dropLast(unit.suffix.count)
            guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { continue }
            guard let number = Int64(digits) else { return nil }
            let (milliseconds, overflow) = number.multipliedReportingOverflow(by: unit.milliseconds)
            return overflow ? nil : .milliseconds(milliseconds)
        }
        return nil
    }

    /// The shortest text that ``parse(_:)`` reads as this duration, to the millisecond.
    static func format(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        let milliseconds = seconds * 1000 + attoseconds / 1_000_000_000_000_000
        let fitting = units.dropLast().last { milliseconds % $0.milliseconds == 0 && milliseconds >= $0.milliseconds }
        guard let fitting else { return "0s" }
        return "\(milliseconds / fitting.milliseconds)\(fitting.suffix)"
    }
}
