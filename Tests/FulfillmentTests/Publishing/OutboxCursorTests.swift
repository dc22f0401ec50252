import Ledger
import Purchases
import Testing

@testable import Fulfillment

@Suite("Walking the outbox")
struct OutboxCursorTests {
    private func entries(_ sequences: ClosedRange<Int64>) -> [OutboxEntry] {
        sequences.map {
            OutboxEntry(
                sequence: $0, copiesRequested: 1,
                event: Event(id: "e", kind: .granted, key: nil, headers: [], value: nil))
        }
    }

    @Test("reads on while there is more, then rests and starts over")
    func walk() {
        var cursor = OutboxCursor()
        let seen1 = cursor.next()
        #expect(seen1 == .read(after: 0))
        cursor.offered(entries(1...3), acknowledged: 3, limit: 3)
        let seen2 = cursor.next()
        #expect(seen2 == .read(after: 3))
        cursor.offered(entries(4...5), acknowledged: 2, limit: 3)
        let seen3 = cursor.next()
        #expect(seen3 == .rest)
        let seen4 = cursor.next()
        #expect(seen4 == .read(after: 0))
    }

    @Test("does not stop at a refused event, and comes back to it")
    func refused() {
        var cursor = OutboxCursor()
        for pass in 1...3 {
            let seen5 = cursor.next()
            #expect(seen5 == .read(after: 0))
            cursor.offered(entries(1...3), acknowledged: 2, limit: 3)
            let seen6 = cursor.next()
            #expect(seen6 == .read(after: 3))
            cursor.offered([], acknowledged: 0, limit: 3)
            let seen7 = cursor.next()
            #expect(seen7 == .restAfterFailures(pass))
        }
        cursor.offered([], acknowledged: 0, limit: 3)
        let seen8 = cursor.next()
        #expect(seen8 == .rest)
    }
}
