/// Dates as text by whole numbers alone: an event has several, and Foundation's formatter costs more than all the rest.
enum CivilText {
    private static let dayMilliseconds: Int64 = 86_400_000
    /// First moment of the year 10000, beyond which the year has more than four digits.
    private static let end: Int64 = 253_402_300_800_000

    /// `2026-11-21T04:59:13.250Z` for a moment of the years 1970 to 9999; nil for any other.
    static func rfc3339(milliseconds: Int64) -> String? {
        guard (0..<end).contains(milliseconds) else { return nil }
        let (year, month, day) = date(ofDay: Int(milliseconds / dayMilliseconds))
        let time = Int(milliseconds % dayMilliseconds)
        return String(unsafeUninitializedCapacity: 24) { text in
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
            digits(day, 2, then: "T")
            digits(time / 3_600_000, 2, then: ":")
            digits(time / 60_000 % 60, 2, then: ":")
            digits(time / 1000 % 60, 2, then: ".")
            digits(time % 1000, 3, then: "Z")
            return end
        }
    }

    /// The Gregorian date of a day counted from 1970-01-01.
    ///
    /// Years are counted from March, so that the leap day is the last of its year, and in cycles of 400 years, which all
    /// have the same number of days.
    private static func date(ofDay day: Int) -> (year: Int, month: Int, day: Int) {
        let daysOfCycle = 146_097
        // From 0000-03-01, the start of a cycle.
        let shifted = day + 719_468
        let cycle = shifted / daysOfCycle
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
}
