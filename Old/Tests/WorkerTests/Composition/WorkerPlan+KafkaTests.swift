import Kafka
import Logging
import Testing

@testable import Worker

@Suite("What a worker asks of its brokers", .timeLimit(.minutes(5)))
struct WorkerPlanKafkaTests {
    private let cluster: KafkaMockCluster
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    init() throws {
        cluster = try KafkaMockCluster()
    }

    private var plan: WorkerPlan.Kafka { WorkerPlan.Kafka(bootstrapServers: cluster.bootstrapServers) }

    /// Commits this offset of one partition.
    private func commit(_ offset: Int64, of index: Int32) async throws {
        var configuration = KafkaConsumerConfiguration(
            client: plan.client, groupID: plan.groupID, topics: [plan.topics.submitted])
        configuration.sessionTimeout = .seconds(6)
        let consumer = try KafkaConsumer(configuration: configuration, logger: logger)
        guard case .assigned? = try await consumer.next(maxRecords: 0, maxBytes: 0) else {
            Issue.record("expected partitions")
            return
        }
        try await consumer.storeOffsets([KafkaPartition(topic: plan.topics.submitted, index: index): offset])
        try await consumer.commit()
        await consumer.close(deadline: .seconds(5))
    }

    @Test("A group without a topic, or without offsets in it, has not begun")
    func new() async throws {
        #expect(try await plan.partitionsWithOffsets(within: .seconds(15), logger: logger) == 0)
        try cluster.createTopic(plan.topics.submitted, partitions: 3)
        #expect(try await plan.partitionsWithOffsets(within: .seconds(15), logger: logger) == 0)
    }

    @Test("A group with an offset behind the beginning has begun there")
    func begun() async throws {
        try cluster.createTopic(plan.topics.submitted, partitions: 3)
        try await commit(7, of: 1)
        #expect(try await plan.partitionsWithOffsets(within: .seconds(15), logger: logger) == 1)
        try await commit(0, of: 2)
        #expect(try await plan.partitionsWithOffsets(within: .seconds(15), logger: logger) == 1)
    }

    @Test("A topic that the brokers do not tell of is an error, and not a group that has not begun")
    func refused() async throws {
        try cluster.createTopic(plan.topics.submitted, partitions: 3)
        cluster.setTopicError(.topicAuthorizationFailed, topic: plan.topics.submitted)
        let error = await #expect(throws: KafkaError.self) {
            try await plan.partitionsWithOffsets(within: .seconds(15), logger: logger)
        }
        guard case .denied? = error else {
            Issue.record("unexpected \(String(describing: error))")
            return
        }
    }
}
