import ArgumentParser
import Foundation
import Kafka
import Logging

/// `grantor topics`.
struct TopicsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "topics", abstract: "Looks after the topics.", subcommands: [Create.self])

    /// `grantor topics create`.
    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "create", abstract: "Creates those of the four topics that are missing.")

        @OptionGroup var configuration: ConfigurationOptions

        @Option(name: .long, help: "Partitions of each new topic.")
        var partitions = 12

        @Option(name: .long, help: "Replicas of each new topic; the broker's default if it is not given.")
        var replicas: Int?

        func validate() throws {
            guard partitions > 0, replicas ?? 1 > 0 else {
                throw ValidationError("--partitions and --replicas must be above 0")
            }
        }

        func run() async throws {
            let kafka = try configuration.load { values throws(ConfigurationError) in try KafkaSettings(values) }
            let servers = try ConfigurationOptions.reporting { () throws(ConfigurationError) in
                try kafka.requiredBootstrapServers()
            }
            var logger = Logger(label: "topics")
            logger.logLevel = .critical
            let admin = KafkaAdmin(
                configuration: KafkaClientConfiguration(
                    bootstrapServers: servers, clientID: "grantor",
                    properties: kafka.revealedProperties), logger: logger)
            let created: (said: String, failure: KafkaError?)
            do throws(KafkaError) {
                created = try await create(kafka.topics, admin)
            } catch {
                throw ExitStatus.failed.saying("the topics cannot be created at \(servers): \(kafka.words(error))")
            }
            try StandardOutput.write(created.said)
            if let failure = created.failure {
                throw ExitStatus.failed.saying("not all topics could be created at \(servers): \(failure)")
            }
        }

        /// Creates what is missing; one topic's failure keeps no other from being created and told of.
        private func create(
            _ names: TopicNames, _ admin: KafkaAdmin
        ) async throws(KafkaError) -> (said: String, failure: KafkaError?) {
            let existing = try await admin.describe().topics
            let missing = names.all.filter { existing[$0] == nil || existing[$0] == .missing }
            let results = try await admin.createTopics(
                missing.map {
                    KafkaNewTopic(
                        name: $0, partitions: partitions, replicas: replicas, configuration: names.settings(of: $0))
                })
            var said = ""
            var failure: KafkaError?
            for topic in names.all {
                if !missing.contains(topic) {
                    said += "\(topic): exists, and stays as it is\n"
                } else if let error = results[topic] ?? nil {
                    failure = failure ?? error
                    said += "\(topic): not created\n"
                } else {
                    said += "\(topic): created with \(partitions) partitions\n"
                }
            }
            return (said, failure)
        }
    }
}

extension TopicNames {
    private static let day = 86_400_000
    private static let mebibyte = 1 << 20

    /// What a new topic is set to: submissions outlast the longest outage of Apple's, events a consumer's long weekend,
    /// and records are as large as receipts can be.
    func settings(of topic: String) -> [String: String] {
        switch topic {
        case submitted:
            ["retention.ms": String(14 * Self.day), "max.message.bytes": String(2 * Self.mebibyte)]
        case quarantined:
            ["retention.ms": String(30 * Self.day), "max.message.bytes": String(3 * Self.mebibyte)]
        default: ["retention.ms": String(30 * Self.day)]
        }
    }
}

extension KafkaError {
    /// The status that a process ends with because of it.
    var exitStatus: ExitStatus { disposition == .configuration ? .configuration : .failed }
}
