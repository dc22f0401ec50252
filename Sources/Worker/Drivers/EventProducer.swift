import Contract
import Kafka
import Logging
import Processing
import Scheduling

/// The Kafka producer in the core's words, on the core's thread: librdkafka does not block there.
final class EventProducer {
    /// Time that a closing producer has for what it holds.
    static let closingLimit = Duration.seconds(5)

    private let producer: KafkaProducer
    private let names: [Topic: String]
    private var drained: [KafkaDeliveryReport] = []
    /// Ends that came without a delivery report.
    private var refused: [PublishReport] = []

    init(producer: KafkaProducer, names: [Topic: String]) {
        self.producer = producer
        self.names = names
    }

    func publish(_ task: PublishTask) {
        let event = task.event
        let record = KafkaProducerRecord(
            topic: names[event.topic] ?? event.topic.defaultName, key: event.key, value: event.value,
            headers: event.headers.map { KafkaHeader(name: $0.name, value: $0.value) })
        switch producer.produce(record, token: task.token.rawValue) {
        case .accepted: break
        // A full queue is a broker that takes too little: its event goes the way of those that time out.
        case .full, .refused: refused.append(PublishReport(token: task.token, result: .failed))
        }
    }

    /// Takes the ends that have come.
    func drainReports(into reports: inout [PublishReport]) {
        drained.removeAll(keepingCapacity: true)
        producer.drainReports(into: &drained)
        append(to: &reports)
    }

    /// When the producer has to be looked at again, besides when its descriptor is signalled; nil if it need not be.
    var needsTurn: Instant? {
        if !refused.isEmpty { return .now }
        return producer.isReplacing ? .now + .seconds(1) : nil
    }

    /// Gives up what is left, and frees the client. The core has stopped: nobody asks what became of it.
    func close() {
        drained.removeAll(keepingCapacity: true)
        producer.close(until: .now + Self.closingLimit, into: &drained)
    }

    private func append(to reports: inout [PublishReport]) {
        for report in drained {
            let result: PublishReport.Result =
                switch report.result {
                case .acknowledged: .acknowledged
                case .failed: .failed
                }
            reports.append(PublishReport(token: PublishToken(rawValue: report.token), result: result))
        }
        reports.append(contentsOf: refused)
        refused.removeAll(keepingCapacity: true)
    }
}
