import Logging
import Testing

@testable import Kafka

struct KafkaConsumerConfigurationTests {
    private func configuration(_ properties: [String: String] = [:]) -> KafkaConsumerConfiguration {
        KafkaConsumerConfiguration(
            client: KafkaClientConfiguration(bootstrapServers: "127.0.0.1:1", properties: properties), groupID: "g",
            topics: ["t"])
    }

    @Test("The defaults are for reading at least once with little memory")
    func defaults() throws {
        let values = try configuration().properties().values
        let expected = [
            "enable.auto.offset.store": "false", "enable.auto.commit": "true", "auto.commit.interval.ms": "1000",
            "auto.offset.reset": "earliest", "queued.max.messages.kbytes": "4096", "queued.min.messages": "20000",
            "socket.nagle.disable": "true", "socket.keepalive.enable": "true", "check.crcs": "true",
            "statistics.interval.ms": "10000", "partition.assignment.strategy": "range",
        ]
        for (key, value) in expected { #expect(values[key] == value, "\(key)") }
    }

    @Test(
        "An answer may be as large as a record that the operator allows",
        arguments: [("1000000", "4194304"), ("5000000", "5000000")])
    func answers(recordBytes: String, answerBytes: String) async throws {
        let configuration = configuration(["message.max.bytes": recordBytes])
        #expect(try configuration.properties().values["fetch.max.bytes"] == answerBytes)
        try await configuration.check()
    }

    @Test("What librdkafka may hold is known, whoever said it")
    func held() {
        let defaults = configuration()
        #expect(defaults.heldRecords == 20_000)
        #expect(defaults.heldBytes == 4 << 20)
        let set = configuration(["queued.min.messages": "10", "queued.max.messages.kbytes": "64"])
        #expect(set.heldRecords == 10)
        #expect(set.heldBytes == 64 << 10)
    }

    @Test("An operator's property wins over a default")
    func override() throws {
        #expect(try configuration(["auto.offset.reset": "error"]).properties().values["auto.offset.reset"] == "error")
    }

    @Test(
        "What the guarantees rest on is refused by name",
        arguments: [
            ("enable.auto.offset.store", "true"), ("enable.auto.commit", "false"), ("group.id", "other"),
            ("bootstrap.servers", "other:1"), ("partition.assignment.strategy", "sticky"), ("log.queue", "false"),
            ("auto.offset.reset", "latest"), ("isolation.level", "read_uncommitted"),
        ])
    func refusals(key: String, value: String) {
        #expect {
            try configuration([key: value]).properties()
        } throws: { error in
            if case KafkaError.refusedProperty(key, _) = error { true } else { false }
        }
    }

    @Test(
        "The strategy is what is set here, else the property's, else range",
        arguments: [
            (KafkaConsumerConfiguration.Assignor?.none, nil, "range", false),
            (nil, "range,roundrobin", "range,roundrobin", false),
            (nil, "cooperative-sticky", "cooperative-sticky", true), (.roundRobin, nil, "roundrobin", false),
            (.range, "cooperative-sticky", "range", false), (.cooperativeSticky, "range", "cooperative-sticky", true),
        ] as [(KafkaConsumerConfiguration.Assignor?, String?, String, Bool)])
    func strategy(
        assignor: KafkaConsumerConfiguration.Assignor?, property: String?, expected: String, isCooperative: Bool
    ) throws {
        let name = "partition.assignment.strategy"
        var configuration = configuration(property.map { [name: $0] } ?? [:])
        configuration.assignor = assignor
        #expect(try configuration.properties().values[name] == expected)
        #expect(configuration.isCooperative == isCooperative)
    }

    @Test("The static name is what is set here, else the property's")
    func staticName() throws {
        let name = "group.instance.id"
        #expect(try configuration().properties().values[name] == nil)
        var configuration = configuration([name: "a"])
        #expect(try configuration.properties().values[name] == "a")
        configuration.groupInstanceID = "b"
        #expect(try configuration.properties().values[name] == "b")
    }

    @Test("A guarded property that only repeats what is set anyway is accepted")
    func harmlessRepetition() throws {
        _ = try configuration(["enable.auto.offset.store": "false"]).properties()
    }

    @Test("A property that librdkafka does not know is an error that names it")
    func unknown() {
        #expect(throws: KafkaError.unknownProperty(key: "no.such.thing")) {
            try KafkaConsumer(configuration: configuration(["no.such.thing": "x"]), logger: Logger(label: "test"))
        }
    }

    @Test("A value that cannot be is an error that names the property and not the value")
    func invalid() {
        #expect {
            try KafkaConsumer(
                configuration: configuration(["security.protocol": "s3cret"]), logger: Logger(label: "test"))
        } throws: { error in
            error as? KafkaError == .invalidPropertyValue(key: "security.protocol") && !"\(error)".contains("s3cret")
        }
    }

    @Test("Properties that contradict one another are a configuration error")
    func contradiction() {
        #expect {
            try KafkaConsumer(
                configuration: configuration(["security.protocol": "ssl", "ssl.ca.location": "/nowhere/ca.pem"]),
                logger: Logger(label: "test"))
        } throws: { ($0 as? KafkaError)?.disposition == .configuration }
    }
}
