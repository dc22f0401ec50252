import Contract
import Kafka
import KafkaScanning
import Logging
import Scheduling
import Threading

/// The demo's own way to write to the topics and to read from them.
final class Broker {
    /// Longest wait for the broker to take a submission.
    private static let produceLimit = Duration.seconds(120)

    private let client: KafkaClientConfiguration
    private let logger: Logger
    /// Where the next look at the output topics begins.
    private var starts: [TopicPartition: Int64] = [:]

    init(bootstrapServers: String, logger: Logger) {
        client = KafkaClientConfiguration(bootstrapServers: bootstrapServers, clientID: "grantor-demo")
        self.logger = logger
    }

    /// Sends submissions, and returns once the broker has them all.
    func submit(_ submissions: [DemoSubmission]) throws {
        let producer = try KafkaProducer(
            configuration: client, topics: [Topic.submitted.defaultName], wake: try WakeDescriptor(), logger: logger)
        var reports: [KafkaDeliveryReport] = []
        for (index, submission) in submissions.enumerated() {
            let record = KafkaProducerRecord(
                topic: Topic.submitted.defaultName, key: submission.key, value: submission.value)
            guard producer.produce(record, token: UInt64(index)) == .accepted else {
                throw DemoFailure("the broker does not take a submission")
            }
        }
        producer.close(until: .now + Self.produceLimit, into: &reports)
        let taken = reports.count { report in
            guard case .acknowledged = report.result else { return false }
            return true
        }
        guard taken == submissions.count else {
            throw DemoFailure("the broker took \(taken) of \(submissions.count) submissions")
        }
    }

    /// Reads new records of the output topics since the last look. Records that a failed look has seen come again.
    func look(into answers: inout Answers) throws(KafkaError) {
        let topics = Topic.outputs.map(\.defaultName)
        var stretches = try KafkaAdmin(configuration: client, logger: logger).offsets(of: topics)
        for (partition, stretch) in stretches {
            let start = starts[partition] ?? stretch.lowerBound
            stretches[partition] = min(start, stretch.upperBound)..<stretch.upperBound
        }
        let scan = KafkaScan(configuration: client, group: "grantor-demo", logger: logger)
        try scan.read(stretches) { batch in
            answers.take(batch.records, of: batch.partition.topic)
            return true
        }
        starts = stretches.mapValues(\.upperBound)
    }
}
