import ArgumentParser
import Audit
import Foundation
import Kafka
import Ledger
import Logging

/// `grantor audit`.
struct AuditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "Proves from ledger and topics that nothing was lost, granted twice or told wrongly.",
        discussion: """
            Reads the whole ledger, all four topics and the group's offsets, and changes nothing; workers may go on \
            meanwhile. Ends with 1 if a statement does not hold. A million purchases, all of them still on the topics, take \
            about 450 MB of memory. What the topics no longer retain is counted and not judged.
            """)

    @OptionGroup var configuration: ConfigurationOptions

    @Flag(
        name: .long,
        help: "Everything is said to be settled and published: also look whether anything is missing.")
    var drained = false

    @Flag(name: .long, help: "Answer as JSON.")
    var json = false

    func run() async throws {
        let (settings, kafka) = try configuration.load { values throws(ConfigurationError) in
            (try LedgerSettings(values), try KafkaSettings(values))
        }
        let servers = try ConfigurationOptions.reporting { () throws(ConfigurationError) in
            try kafka.requiredBootstrapServers()
        }
        let report: AuditReport
        do throws(AuditError) {
            report = try await audit(settings, kafka, servers)
        } catch {
            switch error {
            case .ledger(let error): throw error.exitStatus.saying("\(error)")
            case .kafka(let error):
                throw error.exitStatus.saying("the topics cannot be read at \(servers): \(kafka.words(error))")
            }
        }
        let listing = AuditListing(report: report)
        let format: AnswerFormat = json ? .json : .text(width: Terminal.width())
        try StandardOutput.write(format.render(json: listing.json) { listing.text(width: $0) })
        if !report.passed { throw ExitCode(ExitStatus.failed.rawValue) }
    }

    private func audit(
        _ settings: LedgerSettings, _ kafka: KafkaSettings, _ servers: String
    ) async throws(AuditError) -> AuditReport {
        let ledger: any LedgerReader
        do throws(LedgerError) {
            ledger = try await LedgerOpener.current.reader(settings, CommandLogger.make(label: "ledger"))
        } catch {
            throw .ledger(error)
        }
        let names = kafka.topics.audited
        let client = KafkaClientConfiguration(
            bootstrapServers: servers, clientID: "grantor-audit",
            properties: kafka.revealedProperties)
        var logger = Logger(label: "audit")
        logger.logLevel = .critical
        let topics = TopicsOpener.current.open(client, kafka.groupID, names, logger)
        return try await Audit(ledger: ledger, topics: topics, names: names).run(drained: drained)
    }
}

/// How the audit gets at the topics.
struct TopicsOpener: Sendable {
    let open:
        @Sendable (_ client: KafkaClientConfiguration, _ group: String, AuditedTopicNames, Logger) -> any AuditedTopics

    /// What this task's commands use; Kafka unless a test puts something else in its place.
    @TaskLocal static var current = TopicsOpener { client, group, names, logger in
        KafkaTopics(client: client, group: group, names: names, logger: logger)
    }
}

extension TopicNames {
    /// As the audit knows them.
    var audited: AuditedTopicNames { AuditedTopicNames(submitted: submitted, outputs: outputs) }
}
