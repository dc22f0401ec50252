import Kafka
import Logging

extension WorkerPlan.Kafka {
    /// How long an event waits for a partition without a leader before it is withheld. All that is published waits with it, so
    /// it is a fraction of librdkafka's own limit; most elections of a leader are over before it.
    static let eventTimeout: Duration = .seconds(10)

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
    ///
    /// - Parameter limit: how long the brokers may take to answer all that is asked for it.
    /// - Throws: also where the topic or the group may not be looked at: what is not told is not known to be nothing.
    func partitionsWithOffsets(within limit: Duration, logger: Logger) async throws(KafkaError) -> Int {
        let deadline = ContinuousClock.now + limit
        let admin = KafkaAdmin(configuration: client, logger: logger)
        // All topics are asked for: naming one would make some brokers create it.
        let cluster = try await admin.describe(timeout: limit)
        let count: Int
        switch cluster.topics[topics.submitted] {
        case .present(let partitions, _)?: count = partitions
        // A topic that may not be looked at is left out, as one that is not there. Asked for offsets, brokers tell the two apart.
        case .missing?, nil: count = 1
        case .failed(let error)?: throw error
        }
        let partitions = (0..<Int32(clamping: count)).map { KafkaPartition(topic: topics.submitted, index: $0) }
        let committed = try await admin.committedOffsets(
            of: groupID, in: partitions, timeout: max(deadline - .now, .seconds(1)))
        return committed.values.count { $0 > 0 }
    }

    /// Whether librdkafka takes the properties of the worker's consumer and producer. Joins nothing.
    func check() async throws(KafkaError) {
        try await consumer.check()
        try await producer.check()
    }
}
