public import Kafka
import Purchases

/// The input topic on Kafka.
public struct KafkaSubmissionSource: SubmissionSource {
    private let consumer: KafkaConsumer

    /// Reads through a consumer, which this source closes.
    public init(_ consumer: KafkaConsumer) {
        self.consumer = consumer
    }

    public func next(maxRecords: Int, maxBytes: Int) async throws(SourceError) -> SourceEvent? {
        while true {
            do {
                return try await consumer.next(maxRecords: maxRecords, maxBytes: maxBytes).map(Self.event)
            } catch {
                switch error.disposition {
                // The only passing error of `next` is the task's own cancellation.
                case .retry, .usage: if Task.isCancelled || error == .closed { return nil }
                case .recreate, .configuration, .reject: break
                }
                throw .fatal("\(error)")
            }
        }
    }

    public func store(_ offsets: [TopicPartition: Int64]) async throws(SourceError) {
        let offsets = Dictionary(uniqueKeysWithValues: offsets.map { (KafkaPartition($0.key), $0.value) })
        do {
            try await consumer.storeOffsets(offsets)
        } catch {
            throw .fatal("\(error)")
        }
    }

    public func close(within limit: Duration) async {
        await consumer.close(deadline: limit)
    }

    private static func event(_ event: KafkaConsumerEvent) -> SourceEvent {
        switch event {
        case .records(let records): .records(records.map(SubmissionRecord.init))
        case .assigned(let partitions): .assigned(partitions.map(TopicPartition.init))
        case .revoking(let revocation):
            .revoking(revocation.partitions.map(TopicPartition.init), lost: revocation.lost) { offsets in
                revocation.complete(
                    storing: Dictionary(uniqueKeysWithValues: offsets.map { (KafkaPartition($0.key), $0.value) }))
            }
        }
    }
}

extension TopicPartition {
    init(_ partition: KafkaPartition) {
        self.init(topic: partition.topic, partition: partition.index)
    }
}

extension KafkaPartition {
    init(_ partition: TopicPartition) {
        self.init(topic: partition.topic, index: partition.partition)
    }
}

extension SubmissionRecord {
    init(_ record: KafkaRecord) {
        self.init(
            partition: TopicPartition(record.partition), offset: record.offset,
            timestamp: record.timestampMilliseconds.map(Timestamp.init(milliseconds:)), key: record.key,
            value: record.value, headers: record.headers.map { EventHeader(name: $0.name, value: $0.value) })
    }
}
