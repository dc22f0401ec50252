import Synchronization
import Testing

@testable import Kafka

struct DeliveryBatchesTests {
    private final class Answers: Sendable {
        private let answers = Mutex<[[KafkaDelivery]]>([])
        var all: [[KafkaDelivery]] { answers.withLock { $0 } }
        func add(_ answer: [KafkaDelivery]) { answers.withLock { $0.append(answer) } }
    }

    private let failed = KafkaDelivery.failed(.closed, .possiblyPersisted)

    private func records(_ count: Int) -> [KafkaProducerRecord] {
        (0..<count).map { KafkaProducerRecord(topic: "t\($0)", key: nil, value: nil) }
    }

    private func delivered(_ offset: Int64) -> KafkaDelivery {
        .delivered(KafkaPartition(topic: "t", index: 0), offset: offset)
    }

    @Test("A batch is answered once, when its last result is there, in the order of its records")
    func order() {
        var batches = DeliveryBatches()
        let answers = Answers()
        batches.add(records(2), id: 1) { answers.add($0) }
        var slots: [DeliveryBatches.Slot] = []
        while let (slot, record) = batches.nextWaiting {
            #expect(record.topic == "t\(slots.count)")
            #expect(batches.topic(of: slot) == record.topic)
            slots.append(slot)
            batches.advance()
        }
        batches.resolve(slots[1], delivered(1))
        batches.resolve(slots[1], failed)
        #expect(answers.all.isEmpty)
        batches.resolve(slots[0], delivered(0))
        batches.resolve(slots[0], failed)
        #expect(answers.all == [[delivered(0), delivered(1)]])
        #expect(batches.isEmpty)
    }

    @Test("What was sent fails without what still waits")
    func resolveSent() {
        var batches = DeliveryBatches()
        let answers = Answers()
        batches.add(records(1), id: 1) { answers.add($0) }
        batches.add(records(2), id: 2) { answers.add($0) }
        batches.advance()
        batches.advance()
        batches.resolveSent(failed)
        #expect(answers.all == [[failed]])
        #expect(batches.nextWaiting?.record.topic == "t1")
        batches.resolveWaiting(delivered(7))
        #expect(answers.all == [[failed], [failed, delivered(7)]])
        #expect(batches.isEmpty)
    }

    @Test("Who waits no longer has what came in, and what comes later is nobody's and in nobody's way")
    func giveUp() {
        let unsent = KafkaDelivery.failed(.cancelled, .notPersisted)
        var batches = DeliveryBatches()
        let answers = Answers()
        batches.add(records(3), id: 7) { answers.add($0) }
        batches.add(records(1), id: 8) { answers.add($0) }
        var sent: [DeliveryBatches.Slot] = []
        for _ in 0..<2 {
            if let slot = batches.nextWaiting?.slot { sent.append(slot) }
            batches.advance()
        }
        batches.resolve(sent[0], delivered(0))
        batches.giveUp(7, sent: failed, unsent: unsent)
        batches.giveUp(7, sent: failed, unsent: unsent)
        #expect(answers.all == [[delivered(0), failed, unsent]])
        batches.resolve(sent[1], delivered(1))
        #expect(batches.nextWaiting?.record.topic == "t0", "the other batch's turn")
        batches.resolveWaiting(delivered(2))
        #expect(answers.all == [[delivered(0), failed, unsent], [delivered(2)]])
        #expect(batches.isEmpty)
    }

    @Test("Many batches keep the order of sending")
    func manyBatches() {
        var batches = DeliveryBatches()
        for id in 0..<200 { batches.add(records(1), id: UInt64(id)) { _ in } }
        var seen: [UInt32] = []
        while let (slot, _) = batches.nextWaiting {
            seen.append(slot.batch)
            batches.advance()
        }
        #expect(seen == Array(1...200))
    }

    @Test("A slot survives the way through an opaque pointer", arguments: [(1, 0), (7, 123), (.max, .max)])
    func slots(batch: UInt32, index: UInt32) {
        let slot = DeliveryBatches.Slot(batch: batch, index: index)
        #expect(DeliveryBatches.Slot(bits: slot.bits) == slot)
    }
}
