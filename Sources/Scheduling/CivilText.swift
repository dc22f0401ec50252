/// Dates as text by whole numbers alone: an event has several, and Foundation's formatter costs more than all the rest.
package enum CivilText {
    /// Bytes of the text that ``rfc3339(milliseconds:)`` writes.
    package static let byteCount = 24

    private static let dayMilliseconds: Int64 = 86_400_000
    /// 0000-01-01T00:00:00.000Z.
    private static let first: Int64 = -62_167_219_200_000
    /// 9999-12-31T23:59:59.999Z.
    private static let last: Int64 = 253_402_300_799_999

    /// `2026-11-21T04:59:13.250Z`; a moment outside of the years 0000 to 9999 is moved to their first or last.
    package static func rfc3339(milliseconds: Int64) -> InlineArray<24, UInt8> {
        let milliseconds = min(max(milliseconds, first), last)
        let day = Int((milliseconds - first) / dayMilliseconds)
        let time = Int((milliseconds - first) % dayMilliseconds)
        let (year, month, dayOfMonth) = date(ofDay: day)
        var text = InlineArray<24, UInt8>(repeating: UInt8(ascii: "Z"))
        var end = 0
        func digits(_ number: Int, _ count: Int, then mark: Unicode.Scalar) {
            var rest = number
            for place in (end..<end + count).reversed() {
                text[place] = UInt8(ascii: "0") + UInt8(rest % 10)
                rest /= 10
            }
            end += count
            text[end] = UInt8(ascii: mark)
            end += 1
        }
        digits(year, 4, then: "-")
        digits(month, 2, then: "-")
        digits(dayOfMonth, 2, then: "T")
        digits(time / 3_600_000, 2, then: ":")
        digits(time / 60_000 % 60, 2, then: ":")
        digits(time / 1000 % 60, 2, then: ".")
        digits(time % 1000, 3, then: "Z")
        return text
    }

    /// Reads `2026-11-21T04:59:13[.fff](Z|+hh:mm)`, in milliseconds since 1970; nil for any other text, for dates that
    /// no calendar has, and for leap seconds.
    package static func milliseconds(rfc3339 text: borrowing Span<UInt8>) -> Int64? {
        var reader = Reader()
        guard let year = reader.number(4, in: text), reader.take("-", in: text),
            let month = reader.number(2, in: text), (1...12).contains(month), reader.take("-", in: text),
            let day = reader.number(2, in: text), (1...length(ofMonth: month, in: year)).contains(day),
            reader.take("T", in: text),
            let hour = reader.number(2, in: text), hour < 24, reader.take(":", in: text),
            let minute = reader.number(2, in: text), minute < 60, reader.take(":", in: text),
            let second = reader.number(2, in: text), second < 60,
            let fraction = reader.fraction(in: text), let zone = reader.zone(in: text), reader.place == text.count
        else { return nil }
        let seconds = (hour * 60 + minute - zone) * 60 + second
        return Int64(self.day(ofYear: year, month, day)) * dayMilliseconds + Int64(seconds * 1000 + fraction) + first
    }

    private struct Reader {
        var place = 0

        mutating func take(_ mark: Unicode.Scalar, in text: borrowing Span<UInt8>) -> Bool {
            guard place < text.count, text[place] == UInt8(ascii: mark) else { return false }
            place += 1
            return true
        }

        mutating func digit(in text: borrowing Span<UInt8>) -> Int? {
            guard place < text.count, (0x30...0x39).contains(text[place]) else { return nil }
            place += 1
            return Int(text[place - 1] - 0x30)
        }

        mutating func number(_ count: Int, in text: borrowing Span<UInt8>) -> Int? {
            var number = 0
            for _ in 0..<count {
                guard let digit = digit(in: text) else { return nil }
                number = number * 10 + digit
            }
            return number
        }

        /// Milliseconds; 0 without a fraction.
        mutating func fraction(in text: borrowing Span<UInt8>) -> Int? {
            guard take(".", in: text) else { return 0 }
            guard var nanoseconds = digit(in: text) else { return nil }
            var count = 1
            while count < 9, let digit = digit(in: text) {
                nanoseconds = nanoseconds * 10 + digit
                count += 1
            }
            for _ in count..<9 { nanoseconds *= 10 }
            return (nanoseconds + 500_000) / 1_000_000
        }

        /// Minutes ahead of UTC.
        mutating func zone(in text: borrowing Span<UInt8>) -> Int? {
            if take("Z", in: text) { return 0 }
            let isAhead = take("+", in: text)
            guard isAhead || take("-", in: text), let hours = number(2, in: text), hours < 24, take(":", in: text),
                let minutes = number(2, in: text), minutes < 60
            else { return nil }
            return (isAhead ? 1 : -1) * (hours * 60 + minutes)
        }
    }

    // Years are counted from March, so that the leap day is the last of its year. They are counted in cycles of 400
    // years, which all have the same number of days.
    private static let daysOfCycle = 146_097
    /// Days from 0000-01-01 to 0000-03-01: the year 0 is a leap year.
    private static let daysToMarch = 60

    /// The Gregorian date of a day counted from 0000-01-01.
    private static func date(ofDay day: Int) -> (year: Int, month: Int, day: Int) {
        // One cycle earlier, so that January and February of the year 0 are not before the start.
        let shifted = day - daysToMarch + daysOfCycle
        let cycle = shifted / daysOfCycle - 1
        let dayOfCycle = shifted % daysOfCycle
        let yearOfCycle = (dayOfCycle - dayOfCycle / 1460 + dayOfCycle / 36_524 - dayOfCycle / 146_096) / 365
        let dayOfYear = dayOfCycle - (365 * yearOfCycle + yearOfCycle / 4 - yearOfCycle / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (
            year: cycle * 400 + yearOfCycle + (month <= 2 ? 1 : 0), month: month,
            day: dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        )
    }

    /// The day of a Gregorian date, counted from 0000-01-01.
    private static func day(ofYear year: Int, _ month: Int, _ day: Int) -> Int {
        let yearFromMarch = year + 400 - (month <= 2 ? 1 : 0)
        let monthFromMarch = month > 2 ? month - 3 : month + 9
        let leapDays = yearFromMarch / 4 - yearFromMarch / 100 + yearFromMarch / 400
        return yearFromMarch * 365 + leapDays + (153 * monthFromMarch + 2) / 5 + day - 1 + daysToMarch - daysOfCycle
    }

    private static func length(ofMonth month: Int, in year: Int) -> Int {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        default: 31
        }
    }
}
