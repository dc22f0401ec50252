import Contract
import Kafka
import Testing

@testable import grantor_chaos

@Suite("The judge of topics")
struct TopicJudgeTests {
    private func event(_ moment: String, quantity: Int = 1, repeats: String? = nil) -> InputRecord {
        var headers = [RecordHeader("ce_id", "event-1"), RecordHeader("ce_time", moment)]
        if let repeats { headers.append(RecordHeader(GrantedEvent.repeatHeader, repeats)) }
        let value = #"{"transactionId":"7","quantity":\#(quantity),"grantedAt":"\#(moment)"}"#
        return InputRecord(
            origin: Origin(topic: "purchases.granted", partition: 0, offset: 0), key: Array("user".utf8),
            value: Array(value.utf8), headers: headers, timestamp: nil)
    }

    private let noon = "2026-11-26T12:00:00.000Z"
    private let later = "2026-11-26T12:00:07.000Z"

    @Test("Copies are the same to the last byte, but for the mark of a repeat")
    func copies() {
        #expect(TopicJudge.isSame(event(noon), event(noon, repeats: "order-2"), but: false))
        #expect(!TopicJudge.isSame(event(noon), event(later), but: false))
        #expect(!TopicJudge.isSame(event(noon), event(noon, quantity: 2), but: false))
    }

    @Test("After a ledger was set back a copy may tell another moment, and nothing else")
    func writtenAnew() {
        #expect(TopicJudge.isSame(event(noon), event(later), but: true))
        #expect(!TopicJudge.isSame(event(noon), event(later, quantity: 2), but: true))
    }

    @Test("Members are found at any place of an event, and none where there is none")
    func members() {
        #expect(TopicJudge.member("grantedAt", event(noon).value) == noon)
        #expect(TopicJudge.member("reason", event(noon).value) == nil)
    }
}
