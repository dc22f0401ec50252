import Contract
import KafkaScanning
import KafkaTesting
import Testing

@testable import Kafka

@Suite(.serialized)
struct KafkaAdminTests {
    private let kafka: TestKafka
    private let admin: KafkaAdmin

    init() throws {
        kafka = try TestKafka.shared
        admin = KafkaAdmin(configuration: kafka.client, logger: .silent, timeout: TestKafka.patience)
    }

    @Test("A cluster tells its brokers and its topics")
    func describe() throws {
        let topic = try kafka.makeTopic(partitions: 3)
        let description = try admin.describe()
        #expect(description.brokers == 1)
        #expect(
            description.topics[topic]
                == .present(.init(count: 3, leaderless: 0, replicas: 1, inSyncReplicas: 1)))
    }

    // The mock creates topics on demand, and has no configurations.
    @Test("Topics are created with their configuration, which is told", .enabled(if: TestKafka.isApache))
    func create() throws {
        let (topic, missing) = (TestKafka.uniqueName("made"), TestKafka.uniqueName("missing"))
        let new = KafkaNewTopic(
            name: topic, partitions: 2, replicas: 1,
            configuration: [
                "retention.ms": "604800000", "min.insync.replicas": "1", "max.message.bytes": "2000000",
                "cleanup.policy": "delete",
            ])
        let made = try admin.createTopics([new])
        #expect(made.count == 1)
        try made[topic]?.get()
        let again = try admin.createTopics([new])
        let refusal = #expect(throws: KafkaError.self) { try again[topic]?.get() }
        #expect(refusal?.failure?.name == "TOPIC_ALREADY_EXISTS")
        #expect(refusal?.disposition == .reject)

        // A topic that is not there might be one that is new; here it is not waited for.
        let hurried = KafkaAdmin(configuration: kafka.client, logger: .silent, timeout: .seconds(2))
        #expect(throws: KafkaError.self) { try hurried.topicConfigurations(of: [missing])[missing]?.get() }
        let configurations = try admin.topicConfigurations(of: [topic])
        let values = try #require(try configurations[topic]?.get())
        for (name, value) in new.configuration { #expect(values[name] == value, "\(name)") }
        #expect(values["compression.type"] == "producer")
        #expect(try admin.describe().topics[missing] == nil)
    }

    // Only the mock does so on request; Apache Kafka does it in its first second, and not every time.
    @Test(
        "A coordinator that moves or loads while a group's offsets are asked for is asked again",
        arguments: [14, 15, 16])
    func movingCoordinator(code: Int32) throws {
        let offsetFetch: Int16 = 9
        let mock = try TestKafka.mock()
        let partition = TopicPartition(topic: try mock.makeTopic(), partition: 0)
        try mock.answer(3, ofAPI: offsetFetch, withError: code)
        #expect(try mock.client.committedOffsets(of: "group", in: [partition]).isEmpty)
    }

    @Test("A leader that is elected while offsets are asked for is asked again", arguments: [5, 6])
    func movingLeader(code: Int32) throws {
        let listOffsets: Int16 = 2
        let mock = try TestKafka.mock()
        let topic = try mock.makeTopic()
        try mock.answer(3, ofAPI: listOffsets, withError: code)
        let admin = KafkaAdmin(configuration: mock.client, logger: .silent, timeout: TestKafka.patience)
        #expect(try admin.offsets(of: [topic], timeout: TestKafka.patience).values.map { $0 } == [0..<0])
    }

    @Test("A topic without a name is refused, and not given to librdkafka, which cannot free it")
    func namelessTopic() {
        let error = #expect(throws: KafkaError.self) { try admin.topicConfigurations(of: ["", "topic"]) }
        #expect(error?.disposition == .reject)
    }

    @Test("A topic that cannot be is refused before anybody is asked")
    func invalidTopic() {
        let error = #expect(throws: KafkaError.self) {
            try admin.createTopics([KafkaNewTopic(name: "new", partitions: 0, replicas: 1)])
        }
        #expect(error?.disposition == .reject)
    }

    @Test("Partitions tell the offsets that they hold; a topic that is not there is named")
    func offsets() throws {
        let topic = try kafka.makeTopic(partitions: 2)
        try TestProducer.fill(kafka, (0..<7).map { _ in KafkaProducerRecord(topic: topic, key: [1], value: [1]) })
        let offsets = try admin.offsets(of: [topic])
        #expect(offsets.count == 2)
        #expect(offsets.values.map(\.lowerBound) == [0, 0])
        #expect(offsets.values.map(\.upperBound).sorted() == [0, 7])
        let missing = TestKafka.uniqueName("missing")
        let error = #expect(throws: KafkaError.self) { try admin.offsets(of: [topic, missing]) }
        #expect(error.map { "\($0)".contains(missing) } == true)
    }

    @Test(
        "A failure says what librdkafka says of it in its log, and no password",
        arguments: [
            (["port": "1"], "Connection refused"), (["security.protocol": "SSL"], "SSL"),
            (["security.protocol": "SASL_PLAINTEXT", "sasl.password": "canary"], "SASL"),
        ])
    func reason(properties: [String: String], reason: String) throws {
        var client = kafka.client
        client.properties = properties
        if client.properties.removeValue(forKey: "port") != nil { client.bootstrapServers = "127.0.0.1:1" }
        if properties["sasl.password"] != nil {
            client.properties.merge(["sasl.mechanism": "PLAIN", "sasl.username": "user"]) { $1 }
        }
        var text = ""
        // Longer each time, for a machine on which the reason needs more than that to be known.
        for seconds in [2, 10, 40] where !text.contains(reason) {
            let admin = KafkaAdmin(configuration: client, logger: .silent, timeout: .seconds(seconds))
            let error = #expect(throws: KafkaError.self) { try admin.describe() }
            text = error?.description ?? ""
        }
        #expect(text.contains(reason))
        #expect(!text.contains("[thrd:"))
        #expect(!text.contains("canary"))
    }

    @Test("A reason in which a secret occurs is not shown")
    func secret() {
        let error = KafkaError.transient(KafkaFailure(code: -195, name: "_TRANSPORT", text: "failure"))
        #expect(error.explained(by: "canary is wrong", hiding: ["canary"]) == error)
        #expect("\(error.explained(by: "it is wrong", hiding: ["canary"]))" == "_TRANSPORT: failure: it is wrong")
        let denied = KafkaError.denied(KafkaFailure(code: 29, name: "TOPIC_AUTHORIZATION_FAILED", text: "no"))
        #expect(denied.explained(by: "Connection refused", hiding: []) == denied, "the broker said why")
    }
}
