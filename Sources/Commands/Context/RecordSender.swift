import CommandParser
import Configuration
import Contract
import Kafka
import Logging
import Scheduling
import Threading
import Worker

/// Writes records for commands, as a worker's producer does.
protocol RecordSender: AnyObject {
    /// Whether no broker can be reached, as far as it knows.
    var isAway: Bool { get }
    /// Returns once all in-sync replicas have all of them.
    /// - Returns: Where each stands, in order.
    /// - Throws: why one was not taken, after which it is closed. It and others may stand on their topics all the same,
    ///   unless the broker refused it.
    func send(_ records: [KafkaProducerRecord]) throws(KafkaRefusal) -> [Origin]
    func close()
}

extension KafkaSettings {
    /// The end of a command for which no client can be made.
    func failure(_ error: KafkaError) -> CommandFailure {
        CommandFailure(error.disposition == .configuration ? .configuration : .failed, "Kafka: \(words(error))")
    }
}

/// A producer as a worker has one, on the command's own thread.
final class KafkaRecordSender: RecordSender {
    private static let closingLimit = Duration.seconds(5)

    private let producer: KafkaProducer
    private let wake: WakeDescriptor

    var isAway: Bool { producer.isAway }

    /// - Parameter topics: The topics that it is to write to.
    /// - Throws: the end of a command whose settings Kafka's client does not take.
    init(_ settings: KafkaSettings, topics: [Topic], logger: Logger) throws(CommandFailure) {
        do throws(ThreadingError) { wake = try WakeDescriptor() } catch { throw CommandFailure(.failed, "\(error)") }
        do throws(KafkaError) {
            producer = try KafkaProducer(
                configuration: settings.client, topics: topics.map { settings.topics[$0] }, wake: wake, logger: logger)
        } catch {
            throw settings.failure(error)
        }
    }

    func send(_ records: [KafkaProducerRecord]) throws(KafkaRefusal) -> [Origin] {
        var origins: [Int: Origin] = [:]
        var offered = 0
        while offered < records.count {
            switch producer.produce(records[offered], token: UInt64(offered)) {
            case .accepted: offered += 1
            case .full: try drain(records, into: &origins)
            case .refused(let refusal): throw refusal
            }
        }
        while producer.outstanding > 0 { try drain(records, into: &origins) }
        return records.indices.compactMap { origins[$0] }
    }

    /// Waits for delivery reports and looks at them.
    private func drain(
        _ records: [KafkaProducerRecord], into origins: inout [Int: Origin]
    ) throws(KafkaRefusal) {
        wake.wait(until: .now + .seconds(1))
        var reports: [KafkaDeliveryReport] = []
        producer.drainReports(into: &reports)
        for report in reports {
            let index = Int(report.token)
            switch report.result {
            case .acknowledged(let partition, let offset):
                origins[index] = Origin(topic: records[index].topic, partition: partition, offset: offset)
            case .failed(let refusal): throw refusal
            }
        }
    }

    func close() {
        var reports: [KafkaDeliveryReport] = []
        producer.close(until: .now + Self.closingLimit, into: &reports)
    }
}
