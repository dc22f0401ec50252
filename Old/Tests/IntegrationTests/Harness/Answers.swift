import Foundation
import Kafka
import Purchases
import Synchronization
import SystemTesting

/// A downstream service: reads the output topics from their beginning and keeps everything.
final class Answers: Sendable {
    /// Shared with the task that reads.
    private final class Collected: Sendable {
        let answered = Mutex(Answered())
    }

    private let consumer: KafkaConsumer
    private let collected: Collected
    private let reading: Task<Void, any Error>

    /// Joins a group of its own.
    init(from broker: some Broker, group: String = "downstream") throws {
        let consumer = try KafkaConsumer(
            configuration: KafkaConsumerConfiguration(
                client: .test(broker), groupID: group, topics: Topic.outputs), logger: .silent)
        let collected = Collected()
        self.consumer = consumer
        self.collected = collected
        reading = Task {
            while let event = try await consumer.next(maxRecords: 1000, maxBytes: 8 << 20) {
                switch event {
                case .records(let batch): collected.answered.withLock { $0.add(batch) }
                case .revoking(let revocation): revocation.complete()
                case .assigned: break
                }
            }
        }
    }

    /// What has come so far.
    var soFar: Answered { collected.answered.withLock { $0 } }

    /// Waits until a condition holds of what has come.
    @discardableResult
    func await(
        _ what: String, within limit: Duration, until holds: (Answered) -> Bool
    ) async throws -> Answered {
        try await eventually(what, within: limit) {
            let answered = soFar
            return holds(answered) ? answered : nil
        }
    }

    /// Leaves the group.
    func close() async throws {
        await consumer.close(deadline: .seconds(5))
        try await reading.value
    }
}
