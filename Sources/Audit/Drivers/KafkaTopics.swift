public import Contract
public import Kafka
import KafkaScanning
public import Logging

/// The topics of a cluster.
public struct KafkaTopics: AuditedTopics {
    private let admin: KafkaAdmin
    private let scan: KafkaScan
    private let group: String

    /// - Parameter group: Its committed offsets count, and topics are read with its rights. It is not joined.
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

    public func retention(of topic: String) throws(KafkaError) -> Duration? {
        do throws(KafkaError) {
            return Self.leastAge(try admin.topicConfigurations(of: [topic])[topic]?.get() ?? [:])
        } catch {
            guard error.isOneTopics else { throw error }
            return nil
        }
    }

    /// The age below which no record leaves a topic with these properties. Compaction and a limit of bytes take records
    /// of any age. A topic that keeps all records for ever, and has lost some, has lost them in another way.
    static func leastAge(_ properties: [String: String]) -> Duration? {
        guard properties["cleanup.policy"] == "delete",
            let bytes = properties["retention.bytes"].flatMap({ Int64($0) }), bytes < 0,
            let age = properties["retention.ms"].flatMap({ Int64($0) }), age >= 0
        else { return nil }
        return .milliseconds(age)
    }

    public func read(
        _ stretches: [TopicPartition: Range<Int64>], _ take: (TopicPartition, [InputRecord]) -> Bool
    ) throws(KafkaError) {
        try scan.read(stretches) { take($0.partition, $0.records) }
    }
}
