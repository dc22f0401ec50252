import Kafka

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

    /// Whether librdkafka takes the properties of the worker's consumer and producer. Joins nothing.
    func check() async throws(KafkaError) {
        try await consumer.check()
        try await producer.check()
    }
}
