import Kafka
import Logging

/// Puts submissions on the input topic.
struct Submitting: Sendable {
    /// The broker did not take a submission.
    struct Refused: Error {
        let delivery: KafkaDelivery
    }

    private let producer: KafkaProducer

    init(to broker: some Broker) throws {
        producer = try KafkaProducer(
            configuration: KafkaProducerConfiguration(client: .test(broker)), logger: .silent)
    }

    /// Returns when the broker has all of them.
    func submit(_ played: [Played]) async throws {
        // Batches far below what the producer holds.
        for start in stride(from: 0, to: played.count, by: 100) {
            let batch = played[start..<min(start + 100, played.count)]
            let deliveries = await producer.send(
                batch.map { KafkaProducerRecord(topic: Topic.submitted, key: $0.key, value: $0.value) })
            for case .failed(let error, let persistence) in deliveries {
                throw Refused(delivery: .failed(error, persistence))
            }
        }
    }

    /// Frees the client.
    func close() async {
        await producer.close(deadline: .seconds(5))
    }
}

extension KafkaClientConfiguration {
    /// The test's own clients.
    static func test(_ broker: some Broker) -> KafkaClientConfiguration {
        KafkaClientConfiguration(
            bootstrapServers: broker.bootstrapServers, clientID: "integration-tests", statisticsInterval: .zero,
            properties: broker.properties)
    }
}

extension Logger {
    /// For clients whose brokers go away on purpose.
    static var silent: Logger {
        var logger = Logger(label: "integration-tests")
        logger.logLevel = .critical
        return logger
    }
}
