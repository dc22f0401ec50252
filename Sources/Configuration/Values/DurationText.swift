/// Durations as people write them: `500ms`, `90s`, `15m`, `6h`, `7d`. The unit is obligatory.
public enum DurationText {
    /// From the smallest on. `ms` stands before `s`, which it ends with.
    private static let units = [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)]

    /// The duration; nil for a text of another form, and for more milliseconds than 64 bits hold.
    public static func parse(_ text: String) -> Duration? {
        UnitText.parse(text, units).map { .milliseconds($0) }
    }

    /// The shortest text that ``parse(_:)`` reads as this duration, to the millisecond.
    public static func format(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        let milliseconds = Int(seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000)
        return milliseconds == 0 ? "0s" : UnitText.format(milliseconds, units)
    }
}

/// Sizes as people write them: `512B`, `64KiB`, `8MiB`, `4GiB`, by powers of 1024. The unit is obligatory.
public enum ByteCountText {
    private static let units = [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("B", 1)]

    /// The number of bytes; nil for a text of another form, and for more than 63 bits hold.
    public static func parse(_ text: String) -> Int? { UnitText.parse(text, units) }

    /// The shortest text that ``parse(_:)`` reads as this number.
    public static func format(_ bytes: Int) -> String { UnitText.format(bytes, units) }
}

/// A whole number and a unit, without a space between them.
private enum UnitText {
    /// - Parameter units: a unit that ends with another stands before it.
    static func parse(_ text: String, _ units: [(suffix: String, factor: Int)]) -> Int? {
        guard let unit = units.first(where: { text.hasSuffix($0.suffix) }) else { return nil }
        let digits = text.dropLast(unit.suffix.count)
        // The initializer alone would read a sign, too.
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(digits) else { return nil }
        let (product, overflow) = number.multipliedReportingOverflow(by: unit.factor)
        return overflow ? nil : product
    }

    /// The number in the largest unit that divides it.
    static func format(_ number: Int, _ units: [(suffix: String, factor: Int)]) -> String {
        let fitting = units.filter { number.isMultiple(of: $0.factor) && (number != 0 || $0.factor == 1) }
        guard let unit = fitting.max(by: { $0.factor < $1.factor }) else { return "\(number)" }
        return "\(number / unit.factor)\(unit.suffix)"
    }
}
