import Foundation
import Purchases

/// A moment as a calendar shows it, to the second, in the three spellings that Apple uses.
///
/// Receipts hold five dates per purchase, so this is plain arithmetic; Foundation's formatters cost microseconds each.
struct CivilTime {
    private let moment: Timestamp
    private static let pacific = TimeZone(identifier: "America/Los_Angeles")

    init(_ moment: Timestamp) {
        self.moment = moment
    }

    /// Reads `2019-10-15T14:01:41Z`; nil for anything else.
    init?(rfc3339 bytes: ArraySlice<UInt8>) {
        let text = Array(bytes)
        guard text.count == 20, text[4] == 0x2d, text[7] == 0x2d, text[10] == 0x54, text[13] == 0x3a,
            text[16] == 0x3a, text[19] == 0x5a,
            let year = Self.number(text[0..<4]), let month = Self.number(text[5..<7]), 1...12 ~= month,
            let day = Self.number(text[8..<10]), 1...31 ~= day, let hour = Self.number(text[11..<13]), hour < 24,
            let minute = Self.number(text[14..<16]), minute < 60, let second = Self.number(text[17..<19]), second < 60
        else { return nil }
        let days = Self.days(year: year, month: month, day: day)
        moment = Timestamp(milliseconds: Int64(((days * 24 + hour) * 60 + minute) * 60 + second) * 1000)
    }

    /// To the second.
    var timestamp: Timestamp { moment }

    /// `2019-10-15T14:01:41Z`, as inside a receipt.
    var rfc3339: String { text(offset: 0, separator: "T", zone: "Z") }

    /// `2019-10-15 14:01:41 Etc/GMT`, as in an answer's plain date members.
    var gmt: String { text(offset: 0, separator: " ", zone: " Etc/GMT") }

    /// `2019-10-15 07:01:41 America/Los_Angeles`, as in `_pst` members.
    var pst: String {
        let date = Date(timeIntervalSince1970: Double(moment.milliseconds) / 1000)
        let offset = Self.pacific?.secondsFromGMT(for: date) ?? -8 * 3600
        return text(offset: offset, separator: " ", zone: " America/Los_Angeles")
    }

    /// `1571148101000`, as in `_ms` members.
    var milliseconds: String { String(moment.milliseconds) }

    private func text(offset: Int, separator: String, zone: String) -> String {
        let seconds = Int(moment.milliseconds.floored(by: 1000)) + offset
        let days = seconds.floored(by: 86_400)
        let rest = seconds - days * 86_400
        let (year, month, day) = Self.date(days: days)
        var text = ""
        text.reserveCapacity(44)
        text.append(Self.padded(year, 4))
        text.append("-")
        text.append(Self.padded(month, 2))
        text.append("-")
        text.append(Self.padded(day, 2))
        text.append(separator)
        text.append(Self.padded(rest / 3600, 2))
        text.append(":")
        text.append(Self.padded(rest / 60 % 60, 2))
        text.append(":")
        text.append(Self.padded(rest % 60, 2))
        text.append(zone)
        return text
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return digits.utf8.count < width ? String(repeating: "0", count: width - digits.utf8.count) + digits : digits
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        var number = 0
        for digit in digits {
            guard 0x30...0x39 ~= digit else { return nil }
            number = number * 10 + Int(digit - 0x30)
        }
        return number
    }

    /// Days since 1970-01-01 in the proleptic Gregorian calendar; a year is taken to start in March, so that the leap
    /// day is its last.
    private static func days(year: Int, month: Int, day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = shifted.floored(by: 400)
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func date(days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = shifted.floored(by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let part = (5 * dayOfYear + 2) / 153
        let month = part < 10 ? part + 3 : part - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * part + 2) / 5 + 1)
    }
}

extension BinaryInteger {
    /// The quotient rounded towards negative infinity.
    fileprivate func floored(by divisor: Self) -> Self {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
