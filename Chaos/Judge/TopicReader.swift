import Kafka
import Logging
import Synchronization

/// A downstream service: reads the output topics from their beginning for as long as the run goes on.
final class TopicReader: Sendable {
    /// Shared with the task that reads.
    private final class Shared: Sendable {
        let index = Mutex(TopicIndex())
    }

    private let consumer: KafkaConsumer
    private let shared = Shared()
    private let reading: Task<Void, any Error>

    /// Joins a group of its own.
    init(_ client: KafkaClientConfiguration) throws {
        let consumer = try KafkaConsumer(
            configuration: KafkaConsumerConfiguration(client: client, groupID: "chaos-judge", topics: Topic.outputs),
            logger: .silent)
        self.consumer = consumer
        let shared = shared
        reading = Task {
            while let event = try await consumer.next(maxRecords: 1000, maxBytes: 8 << 20) {
                switch event {
                case .records(let batch): shared.index.withLock { $0.add(batch) }
                case .revoking(let revocation): revocation.complete()
                case .assigned: break
                }
            }
        }
    }

    /// What has come so far.
    var soFar: TopicIndex { shared.index.withLock { $0 } }

    /// How many events have come so far.
    var count: Int { shared.index.withLock { $0.entries.count } }

    /// Leaves the group.
    func close() async throws {
        await consumer.close(deadline: .seconds(5))
        try await reading.value
    }
}
