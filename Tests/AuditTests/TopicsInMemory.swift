import Audit
import Contract
import Kafka
import Synchronization

/// Topics of one partition each, whose records a test puts there and takes away.
final class TopicsInMemory: AuditedTopics {
    struct Log {
        var records: [Int64: InputRecord] = [:]
        var low: Int64 = 0
        var end: Int64 = 0
        var error: KafkaError?
        /// A damaged batch, at which readers end.
        var damage: (offset: Int64, error: KafkaError)?
    }

    private struct State {
        var logs: [TopicPartition: Log] = [:]
        var committed: [TopicPartition: Int64] = [:]
        /// Carried out once, before the next reading of a topic.
        var beforeReading: [String: [@Sendable () -> Void]] = [:]
        var retention: Duration?
    }

    private let state = Mutex(State())

    static func partition(_ topic: Topic) -> TopicPartition {
        TopicPartition(topic: topic.defaultName, partition: 0)
    }

    init() {
        for topic in Topic.allCases { change(topic) { _ in } }
    }

    func change(_ topic: Topic, _ body: (inout Log) -> Void) {
        state.withLock { body(&$0.logs[Self.partition(topic), default: Log()]) }
    }

    func log(_ topic: Topic) -> Log { state.withLock { $0.logs[Self.partition(topic)] ?? Log() } }

    @discardableResult
    func append(
        _ topic: Topic, key: [UInt8]?, value: [UInt8]?, headers: [RecordHeader] = [], at time: Timestamp
    ) -> InputRecord {
        state.withLock { state in
            let partition = Self.partition(topic)
            let offset = state.logs[partition]?.end ?? 0
            let record = InputRecord(
                origin: Origin(topic: partition.topic, partition: partition.partition, offset: offset), key: key,
                value: value, headers: headers, timestamp: time)
            state.logs[partition]?.records[offset] = record
            state.logs[partition]?.end = offset + 1
            return record
        }
    }

    func publish(_ event: Event, at time: Timestamp) {
        append(event.topic, key: event.key, value: event.value, headers: event.headers, at: time)
    }

    /// Retention takes the records before an offset away.
    func truncate(_ topic: Topic, before offset: Int64) {
        change(topic) { log in
            log.low = offset
            log.records = log.records.filter { $0.key >= offset }
        }
    }

    func commit(_ offset: Int64?) { state.withLock { $0.committed[Self.partition(.submitted)] = offset } }

    /// Has something happen while an audit runs: after it has asked for the topics' ends.
    func beforeReading(_ topic: Topic, _ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.beforeReading[topic.defaultName, default: []].append(body) }
    }

    /// Of all topics; nil where nobody knows it.
    func keep(_ retention: Duration?) { state.withLock { $0.retention = retention } }

    // MARK: AuditedTopics

    func retention(of topic: String) throws(KafkaError) -> Duration? { state.withLock { $0.retention } }

    func committed(in partitions: [TopicPartition]) throws(KafkaError) -> [TopicPartition: Int64] {
        state.withLock { $0.committed }.filter { partitions.contains($0.key) }
    }

    func offsets(of topic: String) throws(KafkaError) -> [TopicPartition: Range<Int64>] {
        let logs = state.withLock { $0.logs.filter { $0.key.topic == topic } }
        if let error = logs.values.compactMap(\.error).first { throw error }
        return logs.mapValues { $0.low..<$0.end }
    }

    func offsets(
        at time: Timestamp, in partitions: [TopicPartition]
    ) throws(KafkaError) -> [TopicPartition: Int64] {
        state.withLock { state in
            var offsets: [TopicPartition: Int64] = [:]
            for partition in partitions {
                offsets[partition] = state.logs[partition]?.records.values
                    .filter { ($0.timestamp ?? time) >= time }.map(\.origin.offset).min()
            }
            return offsets
        }
    }

    func read(
        _ stretches: [TopicPartition: Range<Int64>], _ take: (TopicPartition, [InputRecord]) -> Bool
    ) throws(KafkaError) {
        for (partition, stretch) in stretches.sorted(by: { $0.key < $1.key }) {
            for body in state.withLock({ $0.beforeReading.removeValue(forKey: partition.topic) ?? [] }) { body() }
            let log = state.withLock { $0.logs[partition] ?? Log() }
            if let error = log.error { throw error }
            let records = log.records.values.filter { stretch.contains($0.origin.offset) }
                .sorted { $0.origin.offset < $1.origin.offset }
            for record in records {
                if let damage = log.damage, damage.offset <= record.origin.offset { throw damage.error }
                guard take(partition, [record]) else { return }
            }
        }
    }
}
