import Kafka
import Scheduling
import Threading

/// Writes records to topics, and counts those that the broker has.
final class RecordWriter {
    private static let mostUnread = 100

    private let wake: WakeDescriptor
    private var producer: KafkaProducer
    private var reports: [KafkaDeliveryReport] = []
    private var (sent, acknowledged) = (0, 0)

    init(_ client: KafkaClientConfiguration) throws {
        wake = try WakeDescriptor()
        producer = try KafkaProducer(configuration: client, wake: wake, logger: Stage.logger)
    }

    func write(_ record: KafkaProducerRecord) {
        while producer.produce(record, token: 0) != .accepted {
            wake.wait(until: .now + .milliseconds(100))
            drain()
        }
        sent += 1
        if sent % Self.mostUnread == 0 { drain() }
    }

    private func drain() {
        producer.drainReports(into: &reports)
        acknowledged += reports.count { if case .failed = $0.result { false } else { true } }
        reports.removeAll(keepingCapacity: true)
    }

    /// Waits until the broker has everything.
    func flush() throws {
        try waitFor("the broker's acknowledgements", atMost: .seconds(90), every: 10) {
            drain()
            return acknowledged == sent
        }
    }
}
