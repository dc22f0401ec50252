import Contract
import Kafka
import KafkaScanning
import Logging
import Scheduling
import Threading

/// The Kafka mock as a program, and the demo's own way to write to it and to read from it.
final class Broker {
    private static let inputPartitions = 4
    private static let outputPartitions = 2
    /// Longest wait for the broker to take what is submitted.
    private static let produceLimit = Duration.seconds(120)

    let bootstrapServers: String
    private let program: ChildProgram
    private let client: KafkaClientConfiguration
    private let logger: Logger
    /// Where the next look at the output topics begins.
    private var starts: [TopicPartition: Int64] = [:]

    /// Starts the mock with the topics.
    init(program path: String, folder: String, logger: Logger) throws(DemoFailure) {
        var words = [path]
        for topic in Topic.allCases {
            let partitions = topic == .submitted ? Self.inputPartitions : Self.outputPartitions
            words += ["--topic", "\(topic.defaultName):\(partitions)"]
        }
        program = try ChildProgram(piped: words, log: folder + "/broker.log")
        let line = program.readLine()?.split(separator: " ") ?? []
        guard line.count == 2, line[0] == "BOOTSTRAP" else { throw DemoFailure("\(path) does not start") }
        bootstrapServers = String(line[1])
        client = KafkaClientConfiguration(bootstrapServers: bootstrapServers, clientID: "grantor-demo")
        self.logger = logger
    }

    func stop() { program.stop(within: .seconds(5)) }

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

    /// Reads what came onto the output topics since the last look.
    func look(into answers: inout Answers) throws(KafkaError) {
        let topics = Topic.outputs.map(\.defaultName)
        var stretches = try KafkaAdmin(configuration: client, logger: logger).offsets(of: topics)
        for (partition, stretch) in stretches {
            let start = starts[partition] ?? stretch.lowerBound
            stretches[partition] = min(start, stretch.upperBound)..<stretch.upperBound
            starts[partition] = stretch.upperBound
        }
        let scan = KafkaScan(configuration: client, group: "grantor-demo", logger: logger)
        try scan.read(stretches) { batch in
            answers.take(batch.records, of: batch.partition.topic)
            return true
        }
    }
}
