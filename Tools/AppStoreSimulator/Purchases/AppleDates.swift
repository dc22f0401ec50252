internal import Contract

/// A moment to the second in the three spellings that Apple uses in receipts and answers.
///
/// Receipts hold five dates per purchase, so this cuts one text into pieces; formatters cost microseconds each.
struct AppleDates {
    private let moment: Timestamp

    init(_ moment: Timestamp) {
        self.moment = moment
    }

    /// `2019-10-15T14:01:41Z`, as inside a receipt.
    var rfc3339: String { Self.text(moment, separator: "T", zone: "Z") }

    /// `2019-10-15 14:01:41 Etc/GMT`, as in an answer's plain date members.
    var gmt: String { Self.text(moment, separator: " ", zone: " Etc/GMT") }

    /// `2019-10-15 07:01:41 America/Los_Angeles`, as in `_pst` members.
    var pst: String {
        let offset = Self.pacificOffset(at: moment)
        return Self.text(moment.advanced(by: offset), separator: " ", zone: " America/Los_Angeles")
    }

    /// `1571148101000`, as in `_ms` members.
    var milliseconds: String { String(moment.milliseconds) }

    private static func text(_ moment: Timestamp, separator: String, zone: String) -> String {
        let text = moment.rfc3339.utf8
        let time = text.index(text.startIndex, offsetBy: 11)
        return "\(Substring(text.prefix(10)))\(separator)\(Substring(text[time...].prefix(8)))\(zone)"
    }

    /// Daylight saving time of the United States since 2007 (Energy Policy Act of 2005, section 110). It lasts from the
    /// second Sunday in March, 10:00 GMT, to the first one in November, 9:00 GMT. The App Store is younger.
    private static func pacificOffset(at moment: Timestamp) -> Duration {
        let year = moment.rfc3339.prefix(4)
        func sunday(_ number: Int64, ofMonth month: String, hour: Int64) -> Timestamp {
            let first = (Timestamp(rfc3339: "\(year)-\(month)-01T00:00:00Z") ?? moment).milliseconds / 86_400_000
            // 1970-01-01 was a Thursday.
            let weekday = (first + 4) % 7
            let day = first + (7 - weekday) % 7 + 7 * (number - 1)
            return Timestamp(milliseconds: (day * 24 + hour) * 3_600_000)
        }
        let isSummer =
            sunday(2, ofMonth: "03", hour: 10) <= moment && moment < sunday(1, ofMonth: "11", hour: 9)
        return .seconds(isSummer ? -7 * 3600 : -8 * 3600)
    }
}
