import Audit
import Fulfillment
import Kafka
import Purchases

/// A bench's fakes as the topics that an audit reads: one partition each.
struct BenchTopics: AuditedTopics {
    static let names = AuditedTopicNames(
        submitted: FakeSource.partition.topic,
        outputs: OutputTopics(granted: "purchases.granted", failed: "purchases.failed", quarantined: "quarantined"))

    let source: FakeSource
    let sink: FakeSink

    func committed() async throws(KafkaError) -> [TopicPartition: Int64] {
        source.committed.map { [FakeSource.partition: $0] } ?? [:]
    }

    func offsets() async throws(KafkaError) -> [TopicPartition: Range<Int64>] {
        var offsets = [FakeSource.partition: 0..<Int64(source.records.count)]
        for kind in EventTopic.allCases { offsets[Self.partition(kind)] = 0..<Int64(copies(kind).count) }
        return offsets
    }

    func read(
        _ stretches: [TopicPartition: Range<Int64>], _ take: (TopicRecord) -> Void
    ) async throws(KafkaError) {
        let published = EventTopic.allCases.flatMap(copies)
        let submitted = source.records.map { record in
            TopicRecord(
                partition: record.partition, offset: record.offset, timestamp: record.timestamp, key: record.key,
                value: record.value, headers: record.headers)
        }
        for record in submitted + published where stretches[record.partition]?.contains(record.offset) ?? false {
            take(record)
        }
    }

    private func copies(_ kind: EventTopic) -> [TopicRecord] {
        zip(Int64(0)..., sink.events.filter { $0.kind == kind }).map { offset, event in
            TopicRecord(
                partition: Self.partition(kind), offset: offset, timestamp: nil, key: event.key, value: event.value,
                headers: event.headers)
        }
    }

    private static func partition(_ kind: EventTopic) -> TopicPartition {
        TopicPartition(topic: names.outputs[kind], partition: 0)
    }
}

extension PipelineBench {
    /// Judges what the bench has been through.
    func audit(drained: Bool) async throws -> AuditReport {
        try await Audit(ledger: ledger, topics: BenchTopics(source: source, sink: sink), names: BenchTopics.names)
            .run(drained: drained)
    }
}
