import Purchases

extension Timestamp {
    /// Reads `2026-11-21T04:59:13Z`, the form of the dates in Apple's receipts, by whole numbers alone: every purchase has
    /// a few, and Foundation's parser costs more than the signature.
    ///
    /// Nil for any other form and for moments that are none; `init(rfc3339:)` has the last word on those.
    init?(receiptDate text: Span<UInt8>) {
        guard text.count == 20, text[4] == UInt8(ascii: "-"), text[7] == UInt8(ascii: "-"),
            text[10] == UInt8(ascii: "T"), text[13] == UInt8(ascii: ":"), text[16] == UInt8(ascii: ":"),
            text[19] == UInt8(ascii: "Z"), let year = Self.number(text, 0..<4), let month = Self.number(text, 5..<7),
            let day = Self.number(text, 8..<10), let hour = Self.number(text, 11..<13),
            let minute = Self.number(text, 14..<16), let second = Self.number(text, 17..<19),
            (1970...9999).contains(year), (1...12).contains(month)
        else { return nil }
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        // From March to February, like the years below, so that the leap day is the last.
        let monthFromMarch = (month + 9) % 12
        let days = monthFromMarch == 11 ? (isLeap ? 29 : 28) : 31 - monthFromMarch % 5 % 2
        guard (1...days).contains(day), hour < 24, minute < 60, second < 60 else { return nil }
        let yearFromMarch = month > 2 ? year : year - 1
        let leapDays = yearFromMarch / 4 - yearFromMarch / 100 + yearFromMarch / 400
        // The months before it, of 30.6 days as one goes: 31, 30, 31, 30, 31, again and again. 1970-01-01 is the 719,468th
        // day after 0000-03-01.
        let dayOfYear = (monthFromMarch * 153 + 2) / 5 + day - 1
        let dayOfEpoch = yearFromMarch * 365 + leapDays + dayOfYear - 719_468
        self.init(milliseconds: Int64((((dayOfEpoch * 24 + hour) * 60 + minute) * 60 + second) * 1000))
    }

    /// The digits at some places; nil if one of them is none.
    private static func number(_ text: Span<UInt8>, _ places: Range<Int>) -> Int? {
        var number = 0
        for place in places {
            guard (0x30...0x39).contains(text[place]) else { return nil }
            number = number * 10 + Int(text[place] - 0x30)
        }
        return number
    }
}
