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
        var replicas = 1

        func run() async throws {
            let kafka = try configuration.load().kafka
            let servers = try ConfigurationOptions.reporting { () throws(ConfigurationError) in
                try kafka.requiredBootstrapServers()
            }
            var logger = Logger(label: "topics")
            logger.logLevel = .critical
            let admin = KafkaAdmin(
                configuration: KafkaClientConfiguration(
                    bootstrapServers: servers, clientID: "grantor",
                    properties: kafka.properties.mapValues { $0.revealed() }), logger: logger)
            do throws(KafkaError) {
                try await create(kafka.topics.all, admin)
            } catch {
                throw ExitStatus.failed.saying("the topics cannot be created: \(error.line)")
            }
        }

        private func create(_ topics: [String], _ admin: KafkaAdmin) async throws(KafkaError) {
            let existing = try await admin.describe().topics
            let missing = topics.filter { existing[$0] == nil || existing[$0] == .missing }
            let results = try await admin.createTopics(
                missing.map { KafkaNewTopic(name: $0, partitions: partitions, replicas: replicas) })
            for topic in topics {
                if !missing.contains(topic) {
                    print("\(topic): exists")
                } else if let error = results[topic] ?? nil {
                    throw error
                } else {
                    print("\(topic): created with \(partitions) partitions")
                }
            }
        }
    }
}

extension KafkaError {
    /// The error in one line for people.
    var line: String {
        switch self {
        case .unknownProperty(let key): "librdkafka knows no property \(key)"
        case .invalidPropertyValue(let key): "the property \(key) does not take this value"
        case .refusedProperty(let key, let reason): "the property \(key) is not to be set: \(reason)"
        case .invalidConfiguration(let failure), .denied(let failure), .rejected(let failure),
            .transient(let failure), .fatal(let failure):
            "\(failure)"
        case .resourcesExhausted(let call, _): "the system refused \(call)"
        case .concurrentNext, .cancelled, .closed: "\(self)"
        }
    }

    /// The status that a process ends with because of it.
    var exitStatus: ExitStatus { disposition == .configuration ? .configuration : .failed }
}
