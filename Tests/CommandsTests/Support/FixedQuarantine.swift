import Contract
import Kafka

@testable import Commands

/// A quarantine topic of two records, the second of which is a stub.
struct FixedQuarantine: QuarantineTopic {
    /// Its first byte is no UTF-8, and its last ones turn a terminal's lines red.
    static let value: [UInt8] = [0xFF] + Array("{]\u{1B}[31m".utf8)

    private static let record = InputRecord(
        origin: FixedLedger.origin, key: Array("u-1".utf8), value: value,
        headers: [RecordHeader("traceparent", "00-ab"), RecordHeader("x-retries", "3")], timestamp: FixedLedger.time)

    private var records: [InputRecord] {
        let events = [
            QuarantinedEvent.event(of: Self.record, reason: reason),
            QuarantinedEvent.event(of: QuarantineStub(of: Self.record, reason: reason)),
        ]
        return events.enumerated().map { number, event in
            InputRecord(
                origin: Origin(topic: "receipts.quarantined", partition: 1, offset: Int64(40 + number)), key: event.key,
                value: event.value, headers: event.headers, timestamp: FixedLedger.time)
        }
    }

    var failure: KafkaError?
    var reason = "no JSON"
    /// Whether another partition has the same records.
    var isRepeated = false

    func latest(_ mostOfPartition: Int, _ take: (InputRecord) -> Void) throws(KafkaError) -> Int64 {
        if let failure { throw failure }
        let partitions = isRepeated ? 2 : 1
        for _ in 0..<partitions {
            for record in records.suffix(mostOfPartition) { take(record) }
        }
        return Int64(partitions * records.dropLast(mostOfPartition).count)
    }

    func record(_ place: QuarantinePlace) throws(KafkaError) -> InputRecord? {
        records.first { $0.origin.partition == place.partition && $0.origin.offset == place.offset }
    }
}
