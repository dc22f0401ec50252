import CLibrdkafka
import KafkaTesting
import Metrics
import Scheduling
import Testing
import Threading

@testable import Kafka

/// A producer and its owner's side.
final class TestProducer {
    let producer: KafkaProducer
    let metrics = PrometheusRegistry()
    let wake: WakeDescriptor
    private(set) var reports: [KafkaDeliveryReport] = []
    private var lastToken: UInt64 = 0

    /// - Parameter properties: a record's time is as long as only a hang takes, unless they say otherwise.
    init(_ kafka: TestKafka, topics: [String] = [], _ properties: [String: String] = [:]) throws {
        wake = try WakeDescriptor()
        var client = kafka.client
        client.properties["message.timeout.ms"] = "120000"
        client.properties.merge(properties) { _, new in new }
        producer = try KafkaProducer(
            configuration: client, topics: topics, wake: wake, metrics: metrics, logger: .silent)
    }

    deinit { close() }

    /// Offers a record; waits while there is no room.
    func send(_ record: KafkaProducerRecord) -> KafkaAcceptance {
        lastToken += 1
        while true {
            let acceptance = producer.produce(record, token: lastToken)
            guard acceptance == .full else { return acceptance }
            wake.wait(until: .now + .milliseconds(100))
            producer.drainReports(into: &reports)
        }
    }

    /// Takes reports until there are as many; too few of them are a test's failure.
    func reports(_ count: Int) -> [KafkaDelivery] {
        let deadline = Instant.now + TestKafka.patience
        while reports.count < count, Instant.now < deadline {
            wake.wait(until: .now + .milliseconds(100))
            producer.drainReports(into: &reports)
        }
        if reports.count < count { Issue.record("\(reports.count) of \(count) reports have come") }
        return reports.sorted { $0.token < $1.token }.map(\.result)
    }

    func close(within limit: Duration = TestKafka.patience) { producer.close(until: .now + limit, into: &reports) }

    /// Writes records, all of which have to be acknowledged.
    static func fill(_ kafka: TestKafka, _ records: [KafkaProducerRecord]) throws {
        let producer = try TestProducer(kafka)
        for record in records { _ = producer.send(record) }
        let failed = producer.reports(records.count).first { if case .failed = $0 { true } else { false } }
        if let failed { throw TestProducerError.notAcknowledged(failed) }
    }

    /// Writes the numbers of a range, each record to a partition by its key.
    static func fill(_ kafka: TestKafka, _ topic: String, _ numbers: Range<Int>) throws {
        try fill(
            kafka,
            numbers.map { KafkaProducerRecord(topic: topic, key: Array("\($0)".utf8), value: Array("\($0)".utf8)) })
    }
}

enum TestProducerError: Error { case notAcknowledged(KafkaDelivery) }

extension KafkaDelivery {
    var isAcknowledged: Bool { if case .acknowledged = self { true } else { false } }
}

extension TestKafka {
    /// Writes records without a value by a transaction that ends.
    func writeTransaction(to topic: String, records: Int, isCommitted: Bool) throws(KafkaError) {
        var values = client.properties
        values["transactional.id"] = Self.uniqueName("transaction")
        let properties = try ClientProperties(
            KafkaClientConfiguration(bootstrapServers: bootstrapServers, properties: values))
        let handle = try ClientHandle(RD_KAFKA_PRODUCER, properties: properties)
        defer { handle.destroy() }
        let limit = Int32(TestKafka.patience.wholeMilliseconds)
        try KafkaError.check(taking: rd_kafka_init_transactions(handle.pointer, limit))
        try KafkaError.check(taking: rd_kafka_begin_transaction(handle.pointer))
        let name = rd_kafka_topic_new(handle.pointer, topic, nil)
        defer { rd_kafka_topic_destroy(name) }
        for _ in 0..<records { rd_kafka_produce(name, 0, 0, nil, 0, nil, 0, nil) }
        rd_kafka_flush(handle.pointer, limit)
        let end = isCommitted ? rd_kafka_commit_transaction : rd_kafka_abort_transaction
        try KafkaError.check(taking: end(handle.pointer, limit))
    }
}
