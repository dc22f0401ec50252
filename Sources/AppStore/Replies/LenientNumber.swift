/// Numbers as Apple writes them, in text.
enum LenientNumber {
    /// Largest number of milliseconds that is a date: the end of the year 9999.
    private static let endOfTime: Int64 = 253_402_300_800_000

    /// A number without fraction and exponent where it has none to lose. One that is too large for any purpose stays as
    /// it is: it is there, and nobody can read it.
    static func plain(_ text: String) -> String {
        guard !text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return text }
        guard let number = Double(text), number.isFinite else { return text }
        return (Int64(text) ?? Int64(exactly: number)).map { String($0) } ?? String(number)
    }

    /// A whole number, also written as `1.0` or `1e0`; saturates at the ends of `Int`. Nil for a fraction or no number.
    static func integer(_ text: String) -> Int? {
        if let number = Int(text) { return number }
        guard let number = Double(text), number.isFinite, number.rounded() == number else { return nil }
        return Int(exactly: number) ?? (number < 0 ? .min : .max)
    }

    /// Milliseconds since 1970, fractions cut off. Nil for no number, and for a moment before 1970 or after 9999.
    static func moment(_ text: String) -> Int64? {
        if let number = Int64(text) { return 0..<endOfTime ~= number ? number : nil }
        guard let number = Double(text), number >= 0, number < Double(endOfTime) else { return nil }
        return Int64(number)
    }

    /// True, false, and the spellings 1 and 0.
    static func flag(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "true", "1": true
        case "false", "0": false
        default: nil
        }
    }
}
