import Configuration
import Contract
import Kafka
import KafkaScanning
import Logging
import Worker

/// The records of a topic as it stands on Kafka.
struct TopicRecords: Sendable {
    private let topic: String
    private let group: String
    private let admin: KafkaAdmin
    private let scan: KafkaScan

    init(of topic: String, _ settings: KafkaSettings, logger: Logger) {
        (self.topic, group) = (topic, settings.groupID)
        admin = KafkaAdmin(configuration: settings.client, logger: logger)
        scan = KafkaScan(configuration: settings.client, group: settings.groupID, logger: logger)
    }

    func partition(_ index: Int32) -> TopicPartition { TopicPartition(topic: topic, partition: index) }

    /// The offsets that its partitions hold.
    func held() throws(KafkaError) -> [TopicPartition: Range<Int64>] { try admin.offsets(of: [topic]) }

    func committed(in partitions: [TopicPartition]) throws(KafkaError) -> [TopicPartition: Int64] {
        try admin.committedOffsets(of: group, in: partitions)
    }

    /// Hands over what stretches hold of records, those of one partition in order.
    func read(_ stretches: [TopicPartition: Range<Int64>], _ take: (InputRecord) -> Void) throws(KafkaError) {
        try scan.read(stretches) { batch in
            for record in batch.records { take(record) }
            return true
        }
    }
}
