import Kafka
import KafkaTesting
import Metrics
import Scheduling
import Threading

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

    /// Takes reports until there are as many, or it takes too long.
    func reports(_ count: Int) -> [KafkaDelivery] {
        let deadline = Instant.now + TestKafka.patience
        while reports.count < count, Instant.now < deadline {
            wake.wait(until: .now + .milliseconds(100))
            producer.drainReports(into: &reports)
        }
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
