import CommandParser
import Configuration
import Contract
import Kafka
import Logging
import Scheduling
import Threading
import Worker

/// Puts events on their topics.
protocol EventPublisher: AnyObject {
    /// Returns once the brokers have all of them.
    /// - Throws: the end of the command; some of them may stand on their topics.
    func publish(_ events: [Event]) throws(CommandFailure)
    /// Ends its connections.
    func close()
}

/// A producer as a worker has one, on the command's own thread.
final class KafkaEventPublisher: EventPublisher {
    private static let closingLimit = Duration.seconds(5)

    private let settings: KafkaSettings
    private let producer: KafkaProducer
    private let wake: WakeDescriptor

    /// - Throws: the end of a command whose settings Kafka's client does not take.
    init(_ settings: KafkaSettings, logger: Logger) throws(CommandFailure) {
        self.settings = settings
        do throws(ThreadingError) {
            wake = try WakeDescriptor()
        } catch {
            throw CommandFailure(.failed, "\(error)")
        }
        do throws(KafkaError) {
            producer = try KafkaProducer(
                configuration: settings.client, topics: [settings.topics[.granted], settings.topics[.failed]],
                wake: wake, logger: logger)
        } catch {
            let status: ExitStatus = error.disposition == .configuration ? .configuration : .failed
            throw CommandFailure(status, "Kafka: \(settings.words(error))")
        }
    }

    func publish(_ events: [Event]) throws(CommandFailure) {
        var rest = events[...]
        while let event = rest.first {
            let record = KafkaProducerRecord(
                topic: settings.topics[event.topic], key: event.key, value: event.value, headers: event.headers)
            switch producer.produce(record, token: 0) {
            case .accepted: rest.removeFirst()
            case .full: try drain()
            case .refused(let refusal): throw failure(refusal)
            }
        }
        while producer.outstanding > 0 { try drain() }
    }

    /// Waits for delivery reports and looks at them.
    private func drain() throws(CommandFailure) {
        wake.wait(until: .now + .seconds(1))
        var reports: [KafkaDeliveryReport] = []
        producer.drainReports(into: &reports)
        for report in reports {
            if case .failed(let refusal) = report.result { throw failure(refusal) }
        }
    }

    private func failure(_ refusal: KafkaRefusal) -> CommandFailure {
        let words = producer.isAway ? "no broker can be reached" : refusal.words
        return CommandFailure(.failed, "Kafka did not take an event: \(PrintableText.singleLine(words))")
    }

    func close() {
        var reports: [KafkaDeliveryReport] = []
        producer.close(until: .now + Self.closingLimit, into: &reports)
    }
}
