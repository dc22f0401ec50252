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
        do {
            return try await consumer.next(maxRecords: maxRecords, maxBytes: maxBytes).map(Self.event)
        } catch {
            switch error.disposition {
            // The only passing error of `next` is the task's own cancellation.
            case .retry, .usage: if Task.isCancelled || error == .closed { return nil }
            case .recreate, .configuration, .reject: break
            }
            throw .fatal(Self.cause(error))
        }
    }

    public func store(_ offsets: [TopicPartition: Watermark]) async throws(SourceError) {
        let marks = offsets.map { (KafkaPartition($0.key), $0.value) }
        try await perform { consumer throws(KafkaError) in
            _ = try await consumer.storeOffsets(
                Dictionary(uniqueKeysWithValues: marks.map { ($0.0, $0.1.offset) }),
                readUnder: Dictionary(uniqueKeysWithValues: marks.map { ($0.0, $0.1.epoch) }))
        }
    }

    public func pause() async throws(SourceError) {
        try await perform { consumer throws(KafkaError) in try await consumer.pause() }
    }

    public func resume() async throws(SourceError) {
        try await perform { consumer throws(KafkaError) in try await consumer.resume() }
    }

    public var signsOfLife: [UInt64] {
        let signs = consumer.signsOfLife
        return [signs.turns] + (signs.reports.map { [$0] } ?? [])
    }

    public func close(within limit: Duration) async {
        await consumer.close(deadline: limit)
    }

    private func perform(
        _ operation: (KafkaConsumer) async throws(KafkaError) -> Void
    ) async throws(SourceError) {
        do throws(KafkaError) {
            try await operation(consumer)
        } catch {
            throw .fatal(Self.cause(error))
        }
    }

    /// One line for people.
    private static func cause(_ error: KafkaError) -> String {
        guard error.isFenced else { return "\(error)" }
        return "another member has joined the group under the same group instance id; each worker needs its own"
    }

    private static func event(_ event: KafkaConsumerEvent) -> SourceEvent {
        switch event {
        case .records(let records): .records(records.map(SubmissionRecord.init))
        case .assigned(let partitions, let epoch): .assigned(partitions.map(TopicPartition.init), epoch: epoch)
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
