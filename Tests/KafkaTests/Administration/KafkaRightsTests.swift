import Contract
import KafkaScanning
import KafkaTesting
import Logging
import Metrics
import Scheduling
import Testing

@testable import Kafka

/// Rights are the brokers' to say: librdkafka's mock knows none.
@Suite("The rights of a user", .enabled(if: TestKafka.isApache))
struct KafkaRightsTests {
    private static let secured = Result { () throws(TestKafkaError) in try SecuredKafka() }

    private let secured: SecuredKafka
    private let admin: KafkaAdmin
    private let input: String
    private let granted: String
    private let failed: String
    private let group: String

    init() throws {
        secured = try Self.secured.get()
        admin = KafkaAdmin(configuration: secured.client(), logger: .silent, timeout: .seconds(30))
        input = try secured.kafka.makeTopic("input")
        granted = try secured.kafka.makeTopic("granted")
        failed = try secured.kafka.makeTopic("failed")
        group = TestKafka.uniqueName("group")
    }

    private var all: [TestRight] {
        [.readTopic(input), .readGroup(group), .writeTopic(granted), .writeTopic(failed)]
    }

    /// Asks until the expected answer comes, because brokers learn of rights a moment later. If it never comes, the
    /// test ends.
    private func expect(_ wanted: KafkaRights) throws {
        let deadline = Instant.now + TestKafka.patience
        var rights: KafkaRights
        repeat {
            rights = admin.rights(toRead: input, as: group, toWrite: [granted, failed])
        } while rights != wanted && Instant.now < deadline
        try #require(rights == wanted)
    }

    /// - Parameter change: The difference from the rights of a user who has all.
    private func expect(_ change: (inout KafkaRights) -> Void) throws {
        var wanted = complete
        change(&wanted)
        try expect(wanted)
    }

    private var complete: KafkaRights {
        KafkaRights(group: .given, input: .given, outputs: [granted: .given, failed: .given], idempotence: .given)
    }

    @Test("Each is found missing where it is taken, and the others given; the questions leave nothing behind")
    func oneByOne() throws {
        for right in all { try secured.give(right) }
        try expect(complete)

        try secured.take(.readTopic(input))
        try expect { $0.input = .missing }
        try secured.give(.readTopic(input))

        try secured.take(.readGroup(group))
        try expect { ($0.group, $0.input) = (.missing, .untold(.unasked)) }
        // Also without the right to read it, where its coordinator is named.
        try secured.give(.describeGroup(group))
        try expect { ($0.group, $0.input) = (.missing, .untold(.unasked)) }
        try secured.give(.readGroup(group))

        try secured.take(.writeTopic(granted))
        try expect { $0.outputs[granted] = .missing }
        try secured.give(.describeTopic(granted))
        try expect { $0.outputs[granted] = .missing }
        try secured.take(.writeTopic(failed))
        try expect {
            $0.outputs = [granted: .missing, failed: .missing]
            $0.idempotence = .untold(.unasked)
        }

        let everybody = KafkaAdmin(configuration: secured.kafka.client, logger: .silent, timeout: .seconds(30))
        for topic in [granted, failed] {
            #expect(try everybody.end(of: TopicPartition(topic: topic, partition: 0)) == 0, "a record was written")
        }
        let partitions = [TopicPartition(topic: input, partition: 0)]
        #expect(try everybody.committedOffsets(of: group, in: partitions).isEmpty)
    }

    @Test("A partition that may not be read any more counts as refused while that lasts, with or without records")
    func taken() throws {
        let members = try TestGroup(secured.kafka, topic: input, client: secured.client())
        for right in [.describeTopic(input), .readTopic(input), .readGroup(members.group)] as [TestRight] {
            try secured.give(right)
        }
        try members.join(["topic.metadata.refresh.interval.ms": "1000"])
        try members.serve { $0.members[0].granted.count == 1 }
        func isShown(_ refused: Int, _ group: TestGroup) -> Bool {
            group.members[0].metrics.render().contains("grantor_kafka_consumer_refused_partitions \(refused)\n")
        }
        try secured.take(.readTopic(input))
        try members.serve { isShown(1, $0) }
        for _ in 0..<2 { try members.serve { if case .alive = $0 { true } else { nil } } }
        #expect(isShown(1, members))
        try secured.give(.readTopic(input))
        try members.serve { isShown(0, $0) }
    }

    @Test("A topic that the user may not see is told from one that is missing, and asking for it makes none")
    func hiddenTopic() throws {
        let missing = TestKafka.uniqueName("missing")
        let everybody = KafkaAdmin(configuration: secured.kafka.client, logger: .silent, timeout: .seconds(30))
        #expect(try everybody.topic(missing) == .missing)
        guard case .failed(let error) = try admin.topic(failed) else {
            Issue.record("told of")
            return
        }
        #expect(error.disposition == .configuration)
        #expect(try everybody.describe().topics[missing] == nil)
    }

    @Test("Every broker is reached at its address; one that nobody can reach is named")
    func reaching() throws {
        try admin.reachBrokers()
        var client = secured.client()
        client.bootstrapServers = "127.0.0.1:1"
        let lost = KafkaAdmin(configuration: client, logger: .silent, timeout: .seconds(2))
        let error = #expect(throws: KafkaError.self) { try lost.reachBrokers() }
        #expect(error?.description.contains("127.0.0.1:1") == true)
    }

    @Test(
        "A connection that fails is told with its fault",
        arguments: [
            (["sasl.password": "wrong"], ConnectionFault.password),
            (["sasl.mechanism": "SCRAM-SHA-512"], .mechanism),
            (["security.protocol": "PLAINTEXT"], .noPassword),
        ])
    func faults(properties: [String: String], fault: ConnectionFault) throws {
        #expect(try self.fault(secured.client(properties)) == fault)
    }

    @Test(
        "A listener without passwords and TLS is told from one with them",
        arguments: [("SASL_PLAINTEXT", ConnectionFault.unwantedPassword), ("SSL", .unwantedTLS)])
    func plainListener(protocol: String, fault: ConnectionFault) throws {
        var client = secured.client(["security.protocol": `protocol`])
        client.bootstrapServers = secured.kafka.bootstrapServers
        #expect(try self.fault(client) == fault)
    }

    private func fault(_ client: KafkaClientConfiguration) throws -> ConnectionFault? {
        var found: ConnectionFault?
        // Longer each time, for a machine on which the reason needs more than that to be known.
        for seconds in [2, 10, 40] where found == nil || found == .silence {
            let admin = KafkaAdmin(configuration: client, logger: .silent, timeout: .seconds(seconds))
            found = #expect(throws: KafkaError.self) { try admin.describe() }.flatMap { ConnectionFault($0) }
        }
        return found
    }
}

@Suite("Faults of a connection, by librdkafka's words")
struct ConnectionFaultTests {
    /// Of librdkafka 2.0.2, on Apache Kafka 3.9.1 and 4.3.1.
    private static let words: [(text: String, fault: ConnectionFault)] = [
        ("SASL authentication error: Authentication failed: Invalid username or password", .password),
        ("handshake failed: Broker: Unsupported SASL mechanism: broker's supported mechanisms: PLAIN", .mechanism),
        ("SASL PLAIN mechanism handshake failed: Broker: Request not valid in current SASL state", .unwantedPassword),
        (
            "Disconnected: verify that security.protocol is correct, broker might require SASL authentication",
            .noPassword
        ),
        ("Disconnected while requesting ApiVersion: might be caused by incorrect security.protocol", .noTLS),
        ("SSL handshake failed: error:0A000126:SSL routines::unexpected eof while reading", .unwantedTLS),
        ("SSL handshake failed: error:0A000086:SSL routines::certificate verify failed: broker", .certificate),
        ("Failed to resolve 'kafka.invalid:9092': Name or service not known", .unknownName),
        ("Connect to ipv4#127.0.0.1:1 failed: Connection refused", .refused),
        ("Connection setup timed out in state CONNECT", .silence),
    ]

    @Test("Each has words of its own", arguments: words)
    func signs(text: String, fault: ConnectionFault) {
        #expect(ConnectionFault(text) == fault)
    }

    @Test("A refusal by SCRAM may be an old client's, which no password mends")
    func oldClient() {
        let words = "SASL authentication error: invalid credentials with SASL mechanism SCRAM-SHA-512"
        #expect(ConnectionFault(words, hasStrictSCRAM: false) == .scramOfOldClient)
        #expect(ConnectionFault(words, hasStrictSCRAM: true) == .password)
    }

    @Test("Anything else is none of them, and neither is an answer of the broker's")
    func others() {
        #expect(ConnectionFault("Send failed: Broken pipe") == nil)
        let failure = KafkaFailure(code: 29, name: "TOPIC_AUTHORIZATION_FAILED", text: "Connection refused")
        #expect(ConnectionFault(KafkaError.denied(failure)) == nil)
    }

    @Test("Each has a remedy of its own")
    func remedies() {
        #expect(Set(ConnectionFault.allCases.map { $0.remedy() }).count == ConnectionFault.allCases.count)
    }

    @Test("A remedy in the properties names their file, and the restart without which no worker reads it")
    func restart() {
        #expect(
            ConnectionFault.password.remedy(in: "kafka.properties")
                == "correct sasl.username or sasl.password (kafka.properties); then restart workers that run")
        for fault in ConnectionFault.allCases {
            let remedy = fault.remedy(in: "kafka.properties")
            #expect(remedy.contains("(kafka.properties); then restart workers that run") == fault.isInProperties)
        }
    }
}

extension KafkaAdmin {
    /// The offset of the next record of a partition.
    fileprivate func end(of partition: TopicPartition) throws(KafkaError) -> Int64? {
        try offsets(of: [partition.topic])[partition]?.upperBound
    }
}
