import Configuration
import Contract
import Kafka
import KafkaScanning
import Logging
import Worker

/// The records of the input topic that workers are not through with, as commands read them.
protocol InputTopic: Sendable {
    /// Hands over the first such records of each partition, at most so many of it.
    /// - Parameter next: Of each partition the first offset that is not complete. One without is read from its oldest
    ///   record on.
    /// - Returns: How many such records there are in all.
    func unfinished(
        from next: [TopicPartition: Int64], _ mostOfPartition: Int, _ take: (InputRecord) -> Void
    ) throws(KafkaError) -> Int
}

/// The topic as it stands on Kafka.
struct KafkaInput: InputTopic {
    private let topic: String
    private let admin: KafkaAdmin
    private let scan: KafkaScan

    init(_ settings: KafkaSettings, logger: Logger) {
        topic = settings.topics[.submitted]
        admin = KafkaAdmin(configuration: settings.client, logger: logger)
        scan = KafkaScan(configuration: settings.client, group: settings.groupID, logger: logger)
    }

    func unfinished(
        from next: [TopicPartition: Int64], _ mostOfPartition: Int, _ take: (InputRecord) -> Void
    ) throws(KafkaError) -> Int {
        let unfinished = try admin.offsets(of: [topic]).map { partition, held in
            let first = max(held.lowerBound, next[partition] ?? held.lowerBound)
            return (partition, first..<max(first, held.upperBound))
        }
        let stretches = unfinished.map { partition, offsets in (partition, offsets.prefix(mostOfPartition)) }
        try scan.read(Dictionary(stretches) { first, _ in first }) { batch in
            for record in batch.records { take(record) }
            return true
        }
        return unfinished.reduce(0) { $0 + $1.1.count }
    }
}
