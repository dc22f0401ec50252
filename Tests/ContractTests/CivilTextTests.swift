import Contract
import Foundation
import Testing

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
