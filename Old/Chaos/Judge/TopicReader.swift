import Kafka
import Logging
import Purchases
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
    init(_ client: KafkaClientConfiguration, group: String) throws {
        let consumer = try KafkaConsumer(
            configuration: KafkaConsumerConfiguration(client: client, groupID: group, topics: Topic.outputs),
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

    /// Waits until these events have come, or none of them any more.
    func read(_ events: Set<EventID>) async throws -> TopicIndex {
        var known = -1
        while true {
            let index = soFar
            if events.isSubset(of: index.entries.keys) { return index }
            // What has not come in this time is not there.
            if index.records == known { return index }
            if index.records > 0 { known = index.records }
            try await Task.sleep(for: Self.patience)
        }
    }

    /// A broker on loopback that has nothing more to do delivers everything in much less.
    private static let patience = Duration.seconds(10)

    /// How many events have come so far.
    var count: Int { shared.index.withLock { $0.entries.count } }

    /// Leaves the group.
    func close() async throws {
        await consumer.close(deadline: .seconds(5))
        try await reading.value
    }
}
