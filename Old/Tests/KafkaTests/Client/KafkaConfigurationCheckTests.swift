import Testing

@testable import Kafka

struct KafkaConfigurationCheckTests {
    private func client(_ properties: [String: String]) -> KafkaClientConfiguration {
        KafkaClientConfiguration(bootstrapServers: "127.0.0.1:1", properties: properties)
    }

    private func consumer(_ properties: [String: String] = [:]) -> KafkaConsumerConfiguration {
        KafkaConsumerConfiguration(client: client(properties), groupID: "g", topics: ["t"])
    }

    private func producer(_ properties: [String: String] = [:]) -> KafkaProducerConfiguration {
        KafkaProducerConfiguration(client: client(properties))
    }

    @Test("What clients can be made with passes, reachable or not")
    func passes() async throws {
        try await consumer(["session.timeout.ms": "6000"]).check()
        try await producer(["linger.ms": "1"]).check()
    }

    @Test(
        "What a consumer refuses, its check refuses",
        arguments: [
            ["enable.auto.commit": "false"], ["isolation.level": "read_uncommitted"], ["no.such.thing": "1"],
            ["security.protocol": "s3cret"], ["session.timeout.ms": "600000", "max.poll.interval.ms": "10000"],
        ])
    func consumerRefuses(properties: [String: String]) async {
        await #expect { try await consumer(properties).check() } throws: { error in
            (error as? KafkaError)?.disposition == .configuration
        }
    }

    @Test(
        "What a producer refuses, its check refuses",
        arguments: [
            ["acks": "0"], ["enable.idempotence": "false"], ["transactional.id": "t"], ["no.such.thing": "1"],
            ["max.in.flight.requests.per.connection": "100"],
        ])
    func producerRefuses(properties: [String: String]) async {
        await #expect { try await producer(properties).check() } throws: { error in
            (error as? KafkaError)?.disposition == .configuration
        }
    }
}
