import Configuration
import Contract
import Kafka
import Logging
import Worker

/// The records of the input topic that workers are not through with, as commands read them.
protocol InputTopic: Sendable {
    /// Hands over the first such records of each partition, at most so many of it.
    /// - Parameter next: Of each partition the first offset that is not complete. The group's offset stands for one that
    ///   is missing, else the oldest record.
    /// - Returns: How many offsets of such records were left out.
    func unfinished(
        from next: [TopicPartition: Int64], _ mostOfPartition: Int, _ take: (InputRecord) -> Void
    ) throws(KafkaError) -> Int64
}

/// The topic as it stands on Kafka.
struct KafkaInput: InputTopic {
    private let records: TopicRecords

    init(_ settings: KafkaSettings, logger: Logger) {
        records = TopicRecords(of: settings.topics[.submitted], settings, logger: logger)
    }

    func unfinished(
        from next: [TopicPartition: Int64], _ mostOfPartition: Int, _ take: (InputRecord) -> Void
    ) throws(KafkaError) -> Int64 {
        let held = try records.held()
        let unknown = held.keys.filter { next[$0] == nil }
        let committed = try unknown.isEmpty ? [:] : records.committed(in: unknown)
        var (stretches, leftOut): ([TopicPartition: Range<Int64>], Int64) = ([:], 0)
        for (partition, held) in held {
            let first = max(held.lowerBound, next[partition] ?? committed[partition] ?? held.lowerBound)
            let end = min(held.upperBound, first + Int64(mostOfPartition))
            guard first < end else { continue }
            stretches[partition] = first..<end
            leftOut += held.upperBound - end
        }
        try records.read(stretches, take)
        return leftOut
    }
}
