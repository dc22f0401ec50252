public import Fulfillment
public import Kafka
public import Logging
import Purchases

/// The topics of a deployment on Kafka.
public struct KafkaTopics: AuditedTopics {
    /// Most records that are read beyond the end that a partition told.
    static let maxOverrun: Int64 = 100_000

    private let admin: KafkaAdmin
    private let scan: KafkaScan
    private let group: String
    private let names: AuditedTopicNames

    /// Connects nowhere yet.
    ///
    /// - Parameter group: the workers' group. Its offsets are read; it is not joined.
    public init(client: KafkaClientConfiguration, group: String, names: AuditedTopicNames, logger: Logger) {
        admin = KafkaAdmin(configuration: client, logger: logger)
        scan = KafkaScan(configuration: client, group: group, logger: logger)
        self.group = group
        self.names = names
    }

    public func committed() async throws(KafkaError) -> [TopicPartition: Int64] {
        let partitions = try await admin.offsets(of: [names.submitted]).keys.sorted()
        return Self.named(try await admin.committedOffsets(of: group, in: partitions))
    }

    public func offsets() async throws(KafkaError) -> [TopicPartition: Range<Int64>] {
        Self.named(try await admin.offsets(of: names.all))
    }

    public func read(
        _ stretches: [TopicPartition: Range<Int64>], _ take: (TopicRecord) -> Void
    ) async throws(KafkaError) {
        // Up to where a partition ends while it is read: Tansu tells the start of its last batch for its end. What came in
        // meanwhile does no harm, because the ledger is read after.
        let stretches = Dictionary(
            uniqueKeysWithValues: stretches.map { partition, offsets in
                (
                    KafkaPartition(topic: partition.topic, index: partition.partition),
                    offsets.lowerBound..<offsets.upperBound + Self.maxOverrun
                )
            })
        try await scan.read(stretches) { records in
            for record in records { take(TopicRecord(record)) }
        }
    }

    private static func named<Value>(_ values: [KafkaPartition: Value]) -> [TopicPartition: Value] {
        Dictionary(
            uniqueKeysWithValues: values.map {
                (TopicPartition(topic: $0.key.topic, partition: $0.key.index), $0.value)
            })
    }
}

extension TopicRecord {
    init(_ record: KafkaRecord) {
        self.init(
            partition: TopicPartition(topic: record.partition.topic, partition: record.partition.index),
            offset: record.offset, timestamp: record.timestampMilliseconds.map { Timestamp(milliseconds: $0) },
            key: record.key, value: record.value,
            headers: record.headers.map { EventHeader(name: $0.name, value: $0.value) })
    }
}
