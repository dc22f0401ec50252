public import CommandParser

extension ValueForm<Int> {
    /// A number of bytes, see ``ByteCountText``.
    static func bytes(_ range: ClosedRange<Int>) -> Self {
        let (low, high) = (ByteCountText.format(range.lowerBound), ByteCountText.format(range.upperBound))
        return ValueForm(
            "a size with its unit such as 64MiB, from \(low) to \(high)",
            read: { text in ByteCountText.parse(text).flatMap { range.contains($0) ? $0 : nil } },
            show: ByteCountText.format)
    }
}

extension ValueForm<Bool> {
    /// As YAML 1.2 writes it. Its `yes` and `on` of old are refused.
    static var truth: Self { ValueForm("true or false") { ["true": true, "false": false][$0] } }
}

extension ValueForm<Duration> {
    /// A duration with its unit, from the lower bound to the upper one, both included.
    public static func duration(_ range: ClosedRange<Duration>) -> Self {
        let (low, high) = (DurationText.format(range.lowerBound), DurationText.format(range.upperBound))
        return ValueForm(
            "a duration with its unit such as 20s, from \(low) to \(high)",
            read: { text in DurationText.parse(text).flatMap { range.contains($0) ? $0 : nil } },
            show: DurationText.format)
    }

    /// The age at which answers go. A shorter one would reach answers that records under way may still ask for.
    public static var answerAge: Self { .duration(.seconds(86_400) ... .seconds(36_500 * 86_400)) }
}

extension ValueForm<String> {
    /// Text of so many characters at most.
    static func text(maxLength: Int, _ requirement: String) -> Self {
        ValueForm(requirement) { $0.count <= maxLength ? $0 : nil }
    }

    /// A name that identifies something, such as a group.
    ///
    /// Two names that differ in invisible characters would be two groups, and the workers of each would read
    /// everything.
    static var name: Self {
        let maxBytes = 255
        return ValueForm(
            "a name of at most \(maxBytes) bytes, without white space at its ends and characters that cannot be seen"
        ) { text in
            guard text.utf8.count <= maxBytes, text.first?.isWhitespace == false, text.last?.isWhitespace == false,
                !text.unicodeScalars.contains(where: \.isInvisible)
            else { return nil }
            return text
        }
    }

    /// A path; the file is looked at elsewhere.
    static var path: Self { ValueForm("the path of a file") { $0 } }

    /// Kafka's rule for the names of topics: 1 to 249 of letters, digits, `.`, `_` and `-`, and neither `.` nor `..`.
    static var topic: Self {
        ValueForm("a topic name: 1-249 letters, digits, '.', '_' and '-'") { text in
            let isName = text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) }
            return isName && text.utf8.count <= 249 && text != "." && text != ".." ? text : nil
        }
    }
}

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
