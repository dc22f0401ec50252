import Kafka
import Logging

extension WorkerPlan.Kafka {
    /// How long an event waits for a partition without a leader before it is withheld. All that is published waits with it, so
    /// it is a fraction of librdkafka's own limit; most elections of a leader are over before it.
    static let eventTimeout: Duration = .seconds(10)

    /// How long each answer of the brokers about the group is waited for. A worker whose brokers are away has nothing else to
    /// do at its start, and should still end soon when it is asked to.
    static let questionTimeout: Duration = .seconds(5)

    /// How the worker's consumer is made.
    var consumer: KafkaConsumerConfiguration {
        KafkaConsumerConfiguration(
            client: client, groupID: groupID, topics: [topics.submitted], assignor: assignmentStrategy,
            groupInstanceID: groupInstanceID)
    }

    /// How the worker's producer is made.
    var producer: KafkaProducerConfiguration {
        var client = client
        // Room for the largest record that intake reads and quarantine passes on, with its headers.
        let largest = "message.max.bytes"
        client.properties[largest] = client.properties[largest] ?? String(4 << 20)
        return KafkaProducerConfiguration(client: client, messageTimeout: Self.eventTimeout)
    }

    /// How a client that only looks is made.
    var client: KafkaClientConfiguration {
        KafkaClientConfiguration(bootstrapServers: bootstrapServers, clientID: "grantor", properties: properties)
    }

    /// In how many partitions of the input topic the group has committed more than the beginning. Joins nothing.
    func partitionsWithOffsets(logger: Logger) async throws(KafkaError) -> Int {
        let admin = KafkaAdmin(configuration: client, logger: logger)
        // All topics are asked for: naming one would make some brokers create it.
        let cluster = try await admin.describe(timeout: Self.questionTimeout)
        let count: Int
        switch cluster.topics[topics.submitted] {
        case .present(let partitions, _)?: count = partitions
        case .missing?, nil: return 0
        case .failed(let error)?: throw error
        }
        let partitions = (0..<Int32(clamping: count)).map { KafkaPartition(topic: topics.submitted, index: $0) }
        let committed = try await admin.committedOffsets(of: groupID, in: partitions, timeout: Self.questionTimeout)
        return committed.values.count { $0 > 0 }
    }

    /// Whether librdkafka takes the properties of the worker's consumer and producer. Joins nothing.
    func check() async throws(KafkaError) {
        try await consumer.check()
        try await producer.check()
    }
}
