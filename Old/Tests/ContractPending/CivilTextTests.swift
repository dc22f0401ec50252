import Foundation
import Testing

@testable import Contract

@Suite("Civil text")
struct CivilTextTests {
    private static let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

    @Test("is what Foundation writes, for every day of four centuries and at odd moments of it")
    func agreesWithFoundation() {
        for day in 0..<Int64(146_097) {
            let milliseconds = day * 86_400_000 + day * 7_919 % 86_400_000
            let date = Date(timeIntervalSince1970: (Double(milliseconds) + 0.5) / 1000)
            guard day % 61 == 0 || day < 800 else { continue }
            #expect(CivilText.rfc3339(milliseconds: milliseconds) == date.formatted(Self.style))
        }
    }

    @Test("keeps to the years of four digits", arguments: [Int64.min, -1, 253_402_300_800_000, .max])
    func range(milliseconds: Int64) {
        #expect(CivilText.rfc3339(milliseconds: milliseconds) == nil)
    }

    @Test("knows the ends of its range and leap days")
    func ends() {
        #expect(CivilText.rfc3339(milliseconds: 0) == "1970-01-01T00:00:00.000Z")
        #expect(CivilText.rfc3339(milliseconds: 253_402_300_799_999) == "9999-12-31T23:59:59.999Z")
        #expect(CivilText.rfc3339(milliseconds: 951_782_400_000) == "2000-02-29T00:00:00.000Z")
        #expect(CivilText.rfc3339(milliseconds: 4_107_542_400_000) == "2100-03-01T00:00:00.000Z")
    }
}
