import Contract
import Foundation
import Testing

@Suite("Timestamp")
struct TimestampTests {
    @Test(
        "reads RFC 3339, with and without a fraction and in any zone",
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("1970-01-01T00:00:00.001Z", 1),
            ("2026-11-21T04:59:13.250Z", 1_795_237_153_250),
            ("2026-11-21T06:59:13.250+02:00", 1_795_237_153_250), ("1969-12-31T23:59:59Z", -1000),
            ("4001-01-01T00:00:00Z", 64_092_211_200_000), ("2024-02-29T12:00:00.9999Z", 1_709_208_001_000),
            ("1970-01-01T00:00:00.000499999Z", 0), ("1970-01-01T00:00:00.0005Z", 1),
            ("1969-12-31T19:00:00.5-05:30", 1_800_500), ("0000-03-01T00:00:00Z", -62_162_035_200_000),
        ] as [(String, Int64)])
    func reading(text: String, milliseconds: Int64) {
        #expect(Timestamp(rfc3339: text) == Timestamp(milliseconds: milliseconds))
    }

    @Test(
        "refuses anything else",
        arguments: [
            "", "now", "2026-11-21", "2026-11-21T04:59:13", "2026-13-21T04:59:13Z", "1795237153250", "21.11.2026",
            "2026-11-21 04:59:13 Etc/GMT", "2026-02-29T00:00:00Z", "2100-02-29T00:00:00Z", "2026-04-31T00:00:00Z",
            "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T23:60:00Z",
            "2026-12-31T23:59:60Z", "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00.0000000001Z",
            "2026-01-01T00:00:00+24:00", "2026-01-01T00:00:00+0100", "2026-01-01t00:00:00z", "+026-01-01T00:00:00Z",
            "2026-01-01T00:00:00+1\u{0}:00",
        ])
    func refusing(text: String) {
        #expect(Timestamp(rfc3339: text) == nil)
    }

    @Test("refuses what follows a whole date", arguments: ["2026-11-21T04:59:13Zx", "2026-11-21T04:59:13.250Z "])
    func trailing(text: String) {
        #expect(Timestamp(rfc3339: text) == nil)
    }

    @Test(
        "writes UTC with milliseconds, and reads back what it wrote",
        arguments: [0, 1, 999, 1_795_237_153_250, 64_092_211_200_000] as [Int64])
    func roundTrip(milliseconds: Int64) {
        let moment = Timestamp(milliseconds: milliseconds)
        #expect(moment.rfc3339.hasSuffix("Z") && moment.rfc3339.utf8.count == 24)
        #expect(Timestamp(rfc3339: moment.rfc3339) == moment)
        #expect(Timestamp(milliseconds: 1_795_237_153_250).rfc3339 == "2026-11-21T04:59:13.250Z")
    }

    @Test("adds and measures, and stops at the ends of its range")
    func arithmetic() {
        let moment = Timestamp(milliseconds: 1000)
        #expect(moment.advanced(by: .milliseconds(-1500)) == Timestamp(milliseconds: -500))
        #expect(moment.since(Timestamp(milliseconds: -500)) == .milliseconds(1500))
        #expect(moment < moment.advanced(by: .milliseconds(1)))
        #expect(Timestamp(milliseconds: .max).advanced(by: .seconds(1)) == Timestamp(milliseconds: .max))
        #expect(Timestamp(milliseconds: .min).advanced(by: .seconds(-1)) == Timestamp(milliseconds: .min))
        #expect(Timestamp(milliseconds: .max).since(Timestamp(milliseconds: .min)) > .zero)
        #expect(Timestamp(milliseconds: .min).since(Timestamp(milliseconds: .max)) < .zero)
        #expect(Duration.microseconds(1999).wholeMilliseconds == 1)
    }
}

@Suite("Civil text")
struct CivilTextTests {
    private static let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

    @Test("is what Foundation writes, for every day of four centuries and at odd moments of it")
    func agreesWithFoundation() {
        for day in 0..<Int64(146_097) {
            let milliseconds = day * 86_400_000 + day * 7_919 % 86_400_000
            let date = Date(timeIntervalSince1970: (Double(milliseconds) + 0.5) / 1000)
            guard day % 61 == 0 || day < 800 else { continue }
            let text = Timestamp(milliseconds: milliseconds).rfc3339
            #expect(text == date.formatted(Self.style))
            #expect(Timestamp(rfc3339: text) == Timestamp(milliseconds: milliseconds))
        }
    }

    @Test(
        "moves what is outside of the years of four digits to the first or the last moment of them",
        arguments: [
            (Int64.min, "0000-01-01T00:00:00.000Z"), (-62_167_219_200_001, "0000-01-01T00:00:00.000Z"),
            (253_402_300_800_000, "9999-12-31T23:59:59.999Z"), (.max, "9999-12-31T23:59:59.999Z"),
        ])
    func range(milliseconds: Int64, text: String) {
        #expect(Timestamp(milliseconds: milliseconds).rfc3339 == text)
    }

    @Test(
        "knows the ends of its range and leap days",
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
            (253_402_300_799_999, "9999-12-31T23:59:59.999Z"), (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"), (-62_167_219_200_000, "0000-01-01T00:00:00.000Z"),
            (-62_162_121_600_000, "0000-02-29T00:00:00.000Z"),
        ] as [(Int64, String)])
    func ends(milliseconds: Int64, text: String) {
        #expect(Timestamp(milliseconds: milliseconds).rfc3339 == text)
        #expect(Timestamp(rfc3339: text) == Timestamp(milliseconds: milliseconds))
    }
}
