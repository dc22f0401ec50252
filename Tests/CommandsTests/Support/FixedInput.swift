import Contract
import Kafka

@testable import Commands

/// An input topic whose workers have come to offset 173 of partition 5, with records from there on.
struct FixedInput: InputTopic {
    var values: [String] = []
    var failure: KafkaError?

    func unfinished(
        from next: [TopicPartition: Int64], _ mostOfPartition: Int, _ take: (InputRecord) -> Void
    ) throws(KafkaError) -> Int64 {
        if let failure { throw failure }
        let partition = FixedLedger.origin.topicPartition
        for (number, value) in values.prefix(mostOfPartition).enumerated() {
            let offset = (next[partition] ?? 0) + Int64(number)
            take(
                InputRecord(
                    origin: Origin(topic: partition.topic, partition: partition.partition, offset: offset),
                    key: Array("key-\(number)".utf8), value: Array(value.utf8), headers: [],
                    timestamp: FixedLedger.time))
        }
        return Int64(values.dropFirst(mostOfPartition).count)
    }
}
