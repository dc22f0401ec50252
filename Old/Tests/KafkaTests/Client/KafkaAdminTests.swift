import Testing

@testable import Kafka

@Suite(.timeLimit(.minutes(5)))
struct KafkaAdminTests {
    @Test("A cluster tells its brokers, its topics and which have no leader")
    func describe() async throws {
        let bench = try Bench(brokers: 3, partitions: 2)
        try bench.cluster.setLeader(of: bench.partition(1), broker: nil)
        bench.cluster.setTopicError(.topicAuthorizationFailed, topic: "secret")
        let admin = KafkaAdmin(configuration: bench.client, logger: bench.logger)
        let description = try await admin.describe(topics: [Bench.topic, "secret"])
        #expect(description.brokers.map(\.id) == [1, 2, 3])
        #expect(description.brokers.allSatisfy { $0.host == "127.0.0.1" && $0.port > 0 })
        #expect(description.topics[Bench.topic] == .present(partitions: 2, leaderless: 1))
        guard case .failed(.denied)? = description.topics["secret"] else {
            Issue.record("unexpected \(description.topics)")
            return
        }
        let all = try await admin.describe()
        #expect(all.topics.keys.contains(Bench.topic))
    }

    @Test("Without brokers a description fails in time with a passing error")
    func unreachable() async throws {
        let bench = try Bench()
        try bench.setDown(broker: 1)
        let admin = KafkaAdmin(configuration: bench.client, logger: bench.logger)
        await #expect {
            try await admin.describe(topics: [Bench.topic], timeout: .milliseconds(300))
        } throws: { ($0 as? KafkaError)?.disposition == .retry }
    }

    @Test(
        "A failure says what librdkafka says of it in its log, and no password",
        arguments: [
            (["bootstrap.servers": "refused"], "Connection refused"),
            (["security.protocol": "SSL"], "SSL"),
            (["security.protocol": "SASL_PLAINTEXT", "sasl.password": "canary"], "SASL"),
        ])
    func reason(properties: [String: String], reason: String) async throws {
        let bench = try Bench()
        var client = bench.client
        client.properties = properties
        if client.properties.removeValue(forKey: "bootstrap.servers") != nil { try bench.setDown(broker: 1) }
        if properties["sasl.password"] != nil {
            client.properties.merge(["sasl.mechanism": "PLAIN", "sasl.username": "user"]) { $1 }
        }
        let admin = KafkaAdmin(configuration: client, logger: bench.logger)
        var error = KafkaError.closed
        // Longer each time, for a machine on which the reason needs more than that to be known.
        for seconds in [2, 10, 40] where !"\(error)".contains(reason) {
            error = try await #require(throws: KafkaError.self) {
                try await admin.describe(timeout: .seconds(seconds))
            }
        }
        #expect("\(error)".contains(reason), "\(error)")
        #expect(!"\(error)".contains("[thrd:"))
        #expect(!"\(error)".contains("canary"))
    }

    @Test("A reason in which a secret occurs is not shown")
    func secret() {
        let error = KafkaError.transient(KafkaFailure(code: -195, name: "_TRANSPORT", text: "failure"))
        #expect(error.explained(by: "canary is wrong", hiding: ["canary"]) == error)
        #expect("\(error.explained(by: "it is wrong", hiding: ["canary"]))" == "_TRANSPORT: failure: it is wrong")
        let denied = KafkaError.denied(KafkaFailure(code: 29, name: "TOPIC_AUTHORIZATION_FAILED", text: "no"))
        #expect(denied.explained(by: "Connection refused", hiding: []) == denied, "the broker said why")
        #expect(KafkaError.closed.explained(by: "it is wrong", hiding: []) == .closed)
    }

    @Test("A cluster that cannot create topics says so, in time")
    func createTopicsRefused() async throws {
        let bench = try Bench()
        let admin = KafkaAdmin(configuration: bench.client, logger: bench.logger)
        await #expect(throws: KafkaError.self) {
            try await admin.createTopics([KafkaNewTopic(name: "new", partitions: 3)], timeout: .seconds(1))
        }
        #expect(try await admin.createTopics([]) == [:])
    }

    @Test("A topic that cannot be is refused before anybody is asked")
    func invalidTopic() async throws {
        let bench = try Bench()
        let admin = KafkaAdmin(configuration: bench.client, logger: bench.logger)
        await #expect {
            try await admin.createTopics([KafkaNewTopic(name: "new", partitions: 0, replicas: 1)], timeout: .seconds(1))
        } throws: { ($0 as? KafkaError)?.disposition == .reject }
    }
}
