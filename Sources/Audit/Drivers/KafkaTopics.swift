public import Contract
public import Kafka
import KafkaScanning
public import Logging

/// The topics of a cluster.
public struct KafkaTopics: AuditedTopics {
    private let admin: KafkaAdmin
    private let scan: KafkaScan
    private let group: String

    public init(_ configuration: KafkaClientConfiguration, group: String, logger: Logger) {
        admin = KafkaAdmin(configuration: configuration, logger: logger)
        scan = KafkaScan(configuration: configuration, group: group, logger: logger)
        self.group = group
    }

    public func committed(in partitions: [TopicPartition]) throws(KafkaError) -> [TopicPartition: Int64] {
        try admin.committedOffsets(of: group, in: partitions)
    }

    public func offsets(of topic: String) throws(KafkaError) -> [TopicPartition: Range<Int64>] {
        try admin.offsets(of: [topic])
    }

    public func offsets(
        at time: Timestamp, in partitions: [TopicPartition]
    ) throws(KafkaError) -> [TopicPartition: Int64] {
        try admin.offsets(at: time, in: partitions)
    }

    public func read(
        _ stretches: [TopicPartition: Range<Int64>], _ take: (TopicPartition, [InputRecord]) -> Bool
    ) throws(KafkaError) {
        try scan.read(stretches) { take($0.partition, $0.records) }
    }
}
