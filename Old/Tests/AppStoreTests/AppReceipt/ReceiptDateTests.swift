import Purchases
import Testing

@testable import AppStore

@Suite("Receipt dates")
struct ReceiptDateTests {
    private func read(_ text: String) -> Timestamp? { Timestamp(receiptDate: Array(text.utf8).span) }

    @Test(
        "reads the form that Apple writes",
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("2000-02-29T23:59:59Z", 951_868_799), ("2026-11-21T04:59:13Z", 1_795_237_153),
            ("2100-03-01T00:00:00Z", 4_107_542_400), ("9999-12-31T23:59:59Z", 253_402_300_799),
        ])
    func moments(text: String, seconds: Int64) {
        #expect(read(text)?.milliseconds == seconds * 1000)
    }

    @Test(
        "leaves every other form, and moments that are none, to the general reader",
        arguments: [
            "", "2026-11-21", "2026-11-21T04:59:13.000Z", "2026-11-21T04:59:13+00:00", "2026-11-21 04:59:13Z",
            "2026-02-29T00:00:00Z", "2100-02-29T00:00:00Z", "2026-04-31T00:00:00Z", "2026-13-01T00:00:00Z",
            "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z",
            "2026-01-01T00:00:60Z", "1969-12-31T23:59:59Z", "2026-1a-01T00:00:00Z",
        ])
    func others(text: String) {
        #expect(read(text) == nil)
    }

    @Test("agrees with the general reader", arguments: 0..<4)
    func agreement(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            let moment = Timestamp(milliseconds: Int64.random(in: 0..<253_402_300_800, using: &generator) * 1000)
            let text = moment.rfc3339.replacing(".000Z", with: "Z")
            #expect(read(text) == moment)
            #expect(Timestamp(rfc3339: text) == moment)
        }
    }
}
