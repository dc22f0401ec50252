/// A form that values are written in: how a text is read, and how a value is shown.
struct ValueForm<Value: Sendable>: Sendable {
    /// Completes "must be".
    let requirement: String
    /// Nil for a text of another form.
    let read: @Sendable (String) -> Value?
    let show: @Sendable (Value) -> String

    init(
        _ requirement: String, read: @escaping @Sendable (String) -> Value?,
        show: @escaping @Sendable (Value) -> String = { "\($0)" }
    ) {
        self.requirement = requirement
        self.read = read
        self.show = show
    }
}

extension ValueForm<Int> {
    static func integer(_ range: ClosedRange<Int>) -> Self {
        ValueForm("a whole number from \(range.lowerBound) to \(range.upperBound)") { text in
            guard text.first != "+", let number = Int(text), range.contains(number) else { return nil }
            return number
        }
    }

    /// A number of bytes, see ``ByteCountText``.
    static func bytes(_ range: ClosedRange<Int>) -> Self {
        let (low, high) = (ByteCountText.format(range.lowerBound), ByteCountText.format(range.upperBound))
        return ValueForm(
            "a size from \(low) to \(high) with its unit, such as 512KiB, 64MiB or 4GiB",
            read: { text in ByteCountText.parse(text).flatMap { range.contains($0) ? $0 : nil } },
            show: ByteCountText.format)
    }
}

extension ValueForm<Duration> {
    static func duration(_ range: ClosedRange<Duration>) -> Self {
        let (low, high) = (DurationText.format(range.lowerBound), DurationText.format(range.upperBound))
        return ValueForm(
            "a duration from \(low) to \(high) with its unit, such as 500ms, 90s, 15m or 6h",
            read: { text in DurationText.parse(text).flatMap { range.contains($0) ? $0 : nil } },
            show: DurationText.format)
    }
}

extension ValueForm where Value: RawRepresentable<String> & CaseIterable {
    /// One word of a closed set.
    static var choice: Self {
        ValueForm(
            "one of \(Value.allCases.map(\.rawValue).joined(separator: ", "))", read: { Value(rawValue: $0) },
            show: \.rawValue)
    }
}

extension ValueForm<String> {
    /// Text of so many characters at most.
    static func text(maxLength: Int, _ requirement: String) -> Self {
        ValueForm(requirement) { $0.count <= maxLength ? $0 : nil }
    }

    /// A name that tells one thing from another, such as a group's.
    ///
    /// Two names that differ in characters that nobody sees would be two groups, and the workers of each would read
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

    /// `host:port`, several separated by commas, without spaces.
    static var servers: Self {
        ValueForm("host:port, several separated by commas") { text in
            let all = text.split(separator: ",", omittingEmptySubsequences: false)
            return all.allSatisfy { HostAndPort($0, ports: 1...65535) != nil } ? text : nil
        }
    }
}
