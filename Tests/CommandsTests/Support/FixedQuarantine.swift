import Contract
import Kafka
import Synchronization

@testable import Commands

/// A quarantine topic of two records, the second of which is a stub, and the input topic that records go back to.
struct FixedQuarantine: QuarantineTopic {
    final class Sent: Sendable {
        private let records = Mutex<[KafkaProducerRecord]>([])
        var all: [KafkaProducerRecord] { records.withLock { $0 } }
        func add(_ record: KafkaProducerRecord) { records.withLock { $0.append(record) } }
    }

    let sent = Sent()
    var delivery = KafkaDelivery.acknowledged(partition: 2, offset: 9)

    private static let record = InputRecord(
        origin: FixedLedger.origin, key: Array("u-1".utf8), value: Array("{]".utf8),
        headers: [RecordHeader("traceparent", "00-ab"), RecordHeader("x-retries", "3")], timestamp: FixedLedger.time)

    private var records: [InputRecord] {
        let events = [
            QuarantinedEvent.event(of: Self.record, reason: "no JSON"),
            QuarantinedEvent.event(of: QuarantineStub(of: Self.record, reason: "no JSON")),
        ]
        return events.enumerated().map { number, event in
            InputRecord(
                origin: Origin(topic: "receipts.quarantined", partition: 1, offset: Int64(40 + number)), key: event.key,
                value: event.value, headers: event.headers, timestamp: FixedLedger.time)
        }
    }

    func latest(_ mostOfPartition: Int, _ take: (InputRecord) -> Void) throws(KafkaError) {
        for record in records.suffix(mostOfPartition) { take(record) }
    }

    func record(_ place: QuarantinePlace) throws(KafkaError) -> InputRecord? {
        records.first { $0.origin.partition == place.partition && $0.origin.offset == place.offset }
    }

    func send(_ record: KafkaProducerRecord) throws(KafkaError) -> KafkaDelivery {
        sent.add(record)
        return delivery
    }
}
