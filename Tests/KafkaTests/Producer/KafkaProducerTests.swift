import CLibrdkafka
import KafkaTesting
import Metrics
import Scheduling
import Testing

@testable import Kafka

@Suite(.serialized)
struct KafkaProducerTests {
    private func record(_ topic: String, _ number: Int) -> KafkaProducerRecord {
        KafkaProducerRecord(topic: topic, key: nil, value: Array("\(number)".utf8))
    }

    @Test("Every record has its report under its token, with its place")
    func acknowledged() throws {
        let kafka = try TestKafka.shared
        let topic = try kafka.makeTopic()
        let producer = try TestProducer(kafka)
        for number in 0..<1000 { #expect(producer.send(record(topic, number)) == .accepted) }
        let deliveries = producer.reports(1000)
        #expect(deliveries == (0..<1000).map { .acknowledged(partition: 0, offset: Int64($0)) })
        #expect(Set(producer.reports.map(\.token)) == Set(1...1000))
        #expect(producer.producer.outstanding == 0)
    }

    @Test("A full buffer is an answer, and room comes with the reports")
    func full() throws {
        let kafka = try TestKafka.shared
        let topic = try kafka.makeTopic()
        let producer = try TestProducer(kafka, ["queue.buffering.max.messages": "10"])
        var accepted: UInt64 = 0
        while producer.producer.produce(record(topic, 0), token: accepted) == .accepted { accepted += 1 }
        #expect(accepted == 10)
        #expect(producer.reports(10).allSatisfy { $0.isAcknowledged })
        #expect(producer.producer.produce(record(topic, 0), token: 10) == .accepted)
        #expect(producer.reports(11).count == 11)
    }

    /// Brokers hold a batch against their limits as it comes, compressed.
    private func incompressible(_ count: Int) -> [UInt8] {
        var random = SplitMix64(seed: 1)
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
    }

    @Test("A record as large as the input may have it passes where the topic takes it")
    func large() throws {
        let kafka = try TestKafka.shared
        let topic = try kafka.makeTopic(configuration: ["max.message.bytes": "3145728"])
        let producer = try TestProducer(kafka)
        let large = KafkaProducerRecord(topic: topic, key: nil, value: incompressible(2_000_000))
        #expect(producer.send(large) == .accepted)
        #expect(producer.reports(1).last?.isAcknowledged == true)
    }

    @Test(
        "Records that a topic takes one by one pass together, too, down to the limit that grantor check demands",
        .enabled(if: TestKafka.isApache))
    func batches() throws {
        let kafka = try TestKafka.shared
        let topic = try kafka.makeTopic(configuration: ["max.message.bytes": String(KafkaProducer.batchBytes)])
        let producer = try TestProducer(kafka, ["linger.ms": "1000"])
        for _ in 0..<12 {
            let record = KafkaProducerRecord(topic: topic, key: nil, value: incompressible(60_000))
            #expect(producer.producer.produce(record, token: 0) == .accepted)
        }
        #expect(producer.reports(12).allSatisfy { $0.isAcknowledged })
    }

    @Test("A record that is too large for the client is refused as such at once; its neighbour is not")
    func tooLargeForClient() throws {
        let kafka = try TestKafka.shared
        let topic = try kafka.makeTopic()
        let producer = try TestProducer(kafka)
        // More than the client's own limit of 4 MiB.
        let huge = KafkaProducerRecord(topic: topic, key: nil, value: Array(repeating: 0, count: 5_000_000))
        #expect(producer.send(huge) == .refused(.tooLarge))
        #expect(
            producer.metrics.render().contains(#"grantor_kafka_producer_failed_records_total{reason="too_large"} 1"#))
        #expect(producer.send(record(topic, 1)) == .accepted)
        #expect(producer.reports(1).allSatisfy { $0.isAcknowledged })
    }

    @Test(
        "A record that is too large for the topic is refused as such by the broker; its neighbour is not",
        .enabled(if: TestKafka.isApache))
    func tooLargeForTopic() throws {
        let kafka = try TestKafka.shared
        let topic = try kafka.makeTopic(configuration: ["max.message.bytes": "5000"])
        let producer = try TestProducer(kafka)
        let large = KafkaProducerRecord(topic: topic, key: nil, value: incompressible(20_000))
        #expect(producer.send(large) == .accepted)
        #expect(producer.reports(1).last == .failed(.tooLarge))
        #expect(producer.send(record(topic, 1)) == .accepted)
        #expect(producer.reports(2).last?.isAcknowledged == true)
    }

    @Test(
        "A topic that does not exist is named as such within the time for publishing", .enabled(if: TestKafka.isApache))
    func unknownTopic() throws {
        let producer = try TestProducer(try TestKafka.shared)
        #expect(producer.send(record(TestKafka.uniqueName("missing"), 1)) == .accepted)
        #expect(producer.reports(1) == [.failed(.topicUnknown)])
    }

    @Test("A record that no broker takes in time fails as such; one that a broker takes in time does not")
    func brokerAway() throws {
        let kafka = try TestKafka()
        defer { kafka.stop() }
        let topic = try kafka.makeTopic()
        let hurried = try TestProducer(kafka, ["message.timeout.ms": "1000"])
        let patient = try TestProducer(kafka)
        #expect(patient.send(record(topic, 0)) == .accepted)
        #expect(patient.reports(1).allSatisfy { $0.isAcknowledged })
        try kafka.kill()
        for producer in [hurried, patient] { #expect(producer.send(record(topic, 1)) == .accepted) }
        #expect(hurried.reports(1) == [.failed(.timedOut)])
        try kafka.restart()
        #expect(patient.reports(2).last?.isAcknowledged == true)
    }

    @Test("After a fatal error every record has its report, and another client takes over")
    func fatalError() throws {
        let kafka = try TestKafka.shared
        let topic = try kafka.makeTopic()
        let producer = try TestProducer(kafka, ["linger.ms": "2000"])
        for number in 0..<100 { #expect(producer.send(record(topic, number)) == .accepted) }
        producer.producer.failFatally()
        let deliveries = producer.reports(100)
        #expect(deliveries.count == 100)
        #expect(deliveries.allSatisfy { $0 == .failed(.clientReplaced) || $0.isAcknowledged })
        #expect(producer.send(record(topic, 100)) == .accepted)
        #expect(producer.reports(101).last?.isAcknowledged == true)
        #expect(producer.metrics.render().contains("grantor_kafka_producer_recreations_total 1"))
    }

    private func failTooOften(_ producer: TestProducer, _ topic: String) {
        // All within one minute, however long it takes.
        let now = Instant.now
        producer.producer.clock = { now }
        for _ in 0..<KafkaProducer.recreationsPerMinute {
            producer.producer.failFatally()
            #expect(producer.send(record(topic, 0)) == .refused(.clientReplaced))
            #expect(producer.send(record(topic, 0)) == .accepted)
        }
        producer.producer.failFatally()
    }

    @Test("When clients fail too often, records are refused at once instead of waiting")
    func fatalTooOften() throws {
        let kafka = try TestKafka.shared
        let topic = try kafka.makeTopic()
        let producer = try TestProducer(kafka)
        failTooOften(producer, topic)
        #expect(producer.send(record(topic, 0)) == .refused(.clientReplaced))
        #expect(producer.send(record(topic, 0)) == .refused(.clientReplaced))
        #expect(producer.producer.isReplacing)
    }

    @Test("A close after clients have failed too often leaves no record without its report")
    func closeWithoutClient() throws {
        let kafka = try TestKafka.shared
        let topic = try kafka.makeTopic()
        let producer = try TestProducer(kafka)
        failTooOften(producer, topic)
        for _ in 0..<2 { #expect(producer.send(record(topic, 0)) == .refused(.clientReplaced)) }
        #expect(producer.producer.client == nil && producer.producer.outstanding > 0)
        producer.close()
        #expect(producer.reports.count == KafkaProducer.recreationsPerMinute)
        #expect(producer.producer.outstanding == 0)
    }

    @Test("A close waits for acknowledgements, and fails what has none when its time is over")
    func close() throws {
        let kafka = try TestKafka()
        defer { kafka.stop() }
        let topic = try kafka.makeTopic()
        let producer = try TestProducer(kafka, ["linger.ms": "500"])
        for number in 0..<10 { #expect(producer.send(record(topic, number)) == .accepted) }
        producer.close()
        #expect(producer.reports.count == 10)
        #expect(producer.reports.allSatisfy { $0.result.isAcknowledged })
        #expect(producer.send(record(topic, 10)) == .refused(.clientReplaced))

        try kafka.kill()
        let other = try TestProducer(kafka)
        for number in 0..<10 { #expect(other.send(record(topic, number)) == .accepted) }
        other.close(within: .seconds(2))
        #expect(other.reports.map(\.result) == Array(repeating: .failed(.closed), count: 10))
    }

    @Test(
        "The first record of a topic that was named at the start does not wait for a second",
        .enabled(if: TestKafka.isApache))
    func warmTopics() throws {
        let kafka = try TestKafka.shared
        let topic = try kafka.makeTopic()
        let producer = try TestProducer(kafka, topics: [topic])
        #expect(producer.send(record(topic, 0)) == .accepted)
        #expect(producer.reports(1).allSatisfy { $0.isAcknowledged })
    }

    @Test(
        "Properties that the guarantees rest on are refused, by name",
        arguments: [
            ("enable.idempotence", "false"), ("acks", "1"), ("request.required.acks", "0"), ("transactional.id", "a"),
            ("delivery.report.only.error", "true"), ("bootstrap.servers", "a:1"), ("log.queue", "false"),
        ])
    func refusals(key: String, value: String) {
        let client = KafkaClientConfiguration(bootstrapServers: "127.0.0.1:1", properties: [key: value])
        let error = #expect(throws: KafkaError.self) { try KafkaProducer.check(client) }
        #expect(error?.property == key)
        #expect(error?.disposition == .configuration)
    }

    @Test(
        "What an operator may set passes; a time limit under either of its names",
        arguments: ["message.timeout.ms", "delivery.timeout.ms"])
    func passes(name: String) throws {
        let client = KafkaClientConfiguration(
            bootstrapServers: "127.0.0.1:1", properties: [name: "5000", "linger.ms": "1"])
        try KafkaProducer.check(client)
    }
}

extension KafkaProducer {
    /// Puts the client into fatal state, as an error of librdkafka's would.
    fileprivate func failFatally() {
        guard let client else { return }
        rd_kafka_test_fatal_error(client.handle.pointer, RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER, "requested")
    }
}
