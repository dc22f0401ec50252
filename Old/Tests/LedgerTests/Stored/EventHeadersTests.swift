import Purchases
import Testing

@testable import Ledger

@Suite struct EventHeadersTests {
    @Test(arguments: [
        [], [EventHeader(name: "", value: [])],
        [EventHeader(name: "a", value: nil), EventHeader(name: "a", value: [0])],
        [EventHeader("\u{1F48E}", String(repeating: "x", count: 300))],
    ])
    func headersComeBackAsTheyWere(headers: [EventHeader]) throws {
        #expect(try EventHeaders.decode(EventHeaders.encode(headers)) == headers)
    }

    @Test func everyTruncationIsDamageAndNoneACrash() {
        let bytes = EventHeaders.encode([EventHeader("name", "value")])
        for count in 1..<bytes.count {
            #expect(throws: LedgerError.damaged("an event's headers cannot be read")) {
                try EventHeaders.decode(Array(bytes.prefix(count)))
            }
        }
    }
}
