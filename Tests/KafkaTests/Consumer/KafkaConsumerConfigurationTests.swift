import Testing

@testable import Kafka

struct KafkaConsumerConfigurationTests {
    private func configuration(_ properties: [String: String] = [:]) -> KafkaConsumerConfiguration {
        KafkaConsumerConfiguration(
            client: KafkaClientConfiguration(bootstrapServers: "127.0.0.1:1", properties: properties), groupID: "g",
            topics: ["t"])
    }

    @Test("The defaults are for reading at least once with little memory, and for faults that end soon")
    func defaults() throws {
        let values = try configuration().properties().values
        let expected = [
            "enable.auto.offset.store": "false", "enable.auto.commit": "false", "auto.offset.reset": "error",
            "queued.max.messages.kbytes": "512", "queued.min.messages": "20000", "socket.nagle.disable": "true",
            "socket.keepalive.enable": "true", "check.crcs": "true", "statistics.interval.ms": "5000",
            "partition.assignment.strategy": "range", "session.timeout.ms": "15000", "max.poll.interval.ms": "20000",
            "socket.timeout.ms": "10000", "topic.metadata.refresh.interval.ms": "30000",
        ]
        for (key, value) in expected { #expect(values[key] == value, "\(key)") }
        try configuration().check()
    }

    @Test(
        "An answer may be as large as a record that the operator allows",
        arguments: [("1000000", "4194304"), ("5000000", "5000000")])
    func answers(recordBytes: String, answerBytes: String) throws {
        let configuration = configuration(["message.max.bytes": recordBytes])
        #expect(try configuration.properties().values["fetch.max.bytes"] == answerBytes)
        try configuration.check()
    }

    @Test("The amount that librdkafka may hold is known, whoever said it")
    func held() {
        let defaults = configuration()
        #expect(defaults.heldRecords == 20_000)
        #expect(defaults.heldBytes == 512 << 10)
        let set = configuration(["queued.min.messages": "10", "queued.max.messages.kbytes": "64"])
        #expect(set.heldRecords == 10)
        #expect(set.heldBytes == 64 << 10)
    }

    @Test("An operator's property wins over a default, by each of its names")
    func override() throws {
        let values = try configuration(["fetch.message.max.bytes": "9000"]).properties().values
        #expect(values["max.partition.fetch.bytes"] == nil)
        #expect(try configuration(["session.timeout.ms": "6000"]).properties().values["session.timeout.ms"] == "6000")
    }

    @Test(
        "Properties that the guarantees rest on are refused, by name",
        arguments: [
            ("enable.auto.offset.store", "true"), ("enable.auto.commit", "true"), ("group.id", "other"),
            ("bootstrap.servers", "other:1"), ("partition.assignment.strategy", "sticky"), ("log.queue", "false"),
            ("auto.offset.reset", "latest"), ("auto.offset.reset", "earliest"), ("isolation.level", "read_uncommitted"),
            ("enable.partition.eof", "true"), ("statistics.interval.ms", "0"), ("group.protocol", "consumer"),
        ])
    func refusals(key: String, value: String) {
        let error = #expect(throws: KafkaError.self) { try configuration([key: value]).check() }
        #expect(error?.property == key)
        #expect(error?.description.hasPrefix("the property \(key) cannot be set so: ") == true)
    }

    @Test(
        "The strategy is the property's, else range",
        arguments: [
            (nil, "range", false), ("range,roundrobin", "range,roundrobin", false), ("roundrobin", "roundrobin", false),
            ("cooperative-sticky", "cooperative-sticky", true),
        ] as [(String?, String, Bool)])
    func strategy(property: String?, expected: String, isCooperative: Bool) throws {
        let name = "partition.assignment.strategy"
        let configuration = configuration(property.map { [name: $0] } ?? [:])
        #expect(try configuration.properties().values[name] == expected)
        #expect(configuration.isCooperative == isCooperative)
    }

    @Test("The static name is the configuration's, else the property's")
    func staticName() throws {
        let name = "group.instance.id"
        #expect(try configuration().properties().values[name] == nil)
        var configuration = configuration([name: "a"])
        #expect(try configuration.properties().values[name] == "a")
        configuration.groupInstanceID = "b"
        #expect(try configuration.properties().values[name] == "b")
    }

    @Test("A rule's property that only repeats what is set anyway is accepted")
    func harmlessRepetition() throws {
        try configuration(["enable.auto.offset.store": "false", "enable.auto.commit": "false"]).check()
    }

    @Test("A property that librdkafka does not know is an error that names it")
    func unknown() {
        #expect(
            throws: KafkaError.refusedProperty(
                key: "no.such.thing", text: "librdkafka knows no property no.such.thing")
        ) {
            try configuration(["no.such.thing": "x"]).check()
        }
    }

    @Test("A value that cannot be is an error that names the property and not the value")
    func invalid() {
        let error = #expect(throws: KafkaError.self) { try configuration(["security.protocol": "s3cret"]).check() }
        let text = "the property security.protocol does not take this value"
        #expect(error == .refusedProperty(key: "security.protocol", text: text))
        #expect(error.map { !"\($0)".contains("s3cret") } == true)
    }

    @Test("A time with a unit is refused: librdkafka would read 10s as 10 ms")
    func unit() {
        let error = #expect(throws: KafkaError.self) { try configuration(["session.timeout.ms": "10s"]).check() }
        #expect(error?.property == "session.timeout.ms")
    }

    @Test(
        "Properties that contradict one another are a configuration error",
        arguments: [
            ["security.protocol": "ssl", "ssl.ca.location": "/nowhere/ca.pem"],
            ["session.timeout.ms": "600000", "max.poll.interval.ms": "10000"],
        ])
    func contradiction(properties: [String: String]) {
        let error = #expect(throws: KafkaError.self) { try configuration(properties).check() }
        #expect(error?.disposition == .configuration)
    }
}
