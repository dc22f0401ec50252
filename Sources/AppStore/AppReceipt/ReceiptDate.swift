import Purchases

extension Timestamp {
    /// Reads `2026-11-21T04:59:13Z`, the form of the dates in Apple's receipts, by whole numbers alone: every purchase has
    /// a few, and Foundation's parser costs more than the signature.
    ///
    /// Nil for any other form and for moments that are none; `init(rfc3339:)` has the last word on those.
    init?(receiptDate text: [UInt8]) {
        let marks = Array("dddd-dd-ddTdd:dd:ddZ".utf8)
        guard text.count == marks.count else { return nil }
        for (byte, mark) in zip(text, marks) {
            guard mark == UInt8(ascii: "d") ? (0x30...0x39).contains(byte) : byte == mark else { return nil }
        }
        func number(_ places: Range<Int>) -> Int { text[places].reduce(0) { $0 * 10 + Int($1 - 0x30) } }
        let (year, month, day) = (number(0..<4), number(5..<7), number(8..<10))
        let (hour, minute, second) = (number(11..<13), number(14..<16), number(17..<19))
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        // From March to February, like the years below, so that the leap day is the last.
        let days = [31, 30, 31, 30, 31, 31, 30, 31, 30, 31, 31, isLeap ? 29 : 28]
        guard (1970...9999).contains(year), (1...12).contains(month) else { return nil }
        let monthFromMarch = (month + 9) % 12
        guard (1...days[monthFromMarch]).contains(day), hour < 24, minute < 60, second < 60 else { return nil }
        let yearFromMarch = month > 2 ? year : year - 1
        let leapDays = yearFromMarch / 4 - yearFromMarch / 100 + yearFromMarch / 400
        // 1970-01-01 is the 719,468th day after 0000-03-01.
        let dayOfEpoch = yearFromMarch * 365 + leapDays + days[..<monthFromMarch].reduce(day - 1, +) - 719_468
        self.init(milliseconds: Int64((((dayOfEpoch * 24 + hour) * 60 + minute) * 60 + second) * 1000))
    }
}
