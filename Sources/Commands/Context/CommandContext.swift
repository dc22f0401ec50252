import AppStore
import Audit
import CommandParser
import Configuration
import Contract
import Fulfilment
import Glibc
import Kafka
import Ledger
import Logging
import Scheduling

/// Everything that commands have of the process and of the world. Tests replace it.
struct CommandContext: Sendable {
    let environment: [String: String]
    /// Characters of a terminal's line; nil if answers do not go to a terminal.
    let width: Int?
    let now: @Sendable () -> Timestamp
    /// Measures time, and lets some pass.
    let clock: @Sendable () -> Instant
    let pause: @Sendable (Duration) -> Void
    let output: @Sendable (String) throws(CommandFailure) -> Void
    /// Writes bytes as they are where answers go.
    let bytes: @Sendable ([UInt8]) throws(CommandFailure) -> Void
    let progress: ProgressOutput
    let ledgers: LedgerOpener
    let auditedTopics: @Sendable (KafkaSettings) -> any AuditedTopics
    let cluster: @Sendable (KafkaSettings) -> any ClusterAdmin
    let input: @Sendable (KafkaSettings) -> any InputTopic
    let quarantine: @Sendable (KafkaSettings) -> any QuarantineTopic
    let sender: @Sendable (KafkaSettings, [Topic]) throws(CommandFailure) -> any RecordSender
    /// Keeps the signals of a worker until it takes them.
    let holdSignals: @Sendable () -> Void
    /// Makes the clients that a worker would make, and drops them. A worker's clients accept the same settings.
    let checkClients: @Sendable (KafkaSettings) throws(CommandFailure) -> Void
    let apple: @Sendable (AppleSettings) throws(CommandFailure) -> any AppleCaller
    /// Makes a harmless call to an app's inventory service, and waits for its end.
    let service: @Sendable (FulfilmentService) -> FulfilmentReply
    /// Where a worker's log goes.
    let logHandler: @Sendable (LineLogHandler.Format) -> any LogHandler
}

/// Asks Apple, one call after the other.
protocol AppleCaller: Sendable {
    /// Makes a call and waits for its end.
    func reply(to call: AppleCall) -> AppStoreReply
    /// Asks verifyReceipt about nothing, to see whether it replies.
    func replyToEmptyReceipt(_ environment: Environment) -> AppStoreReply
}

/// A cluster as commands look at it and make topics in it.
protocol ClusterAdmin: Sendable {
    func describe() throws(KafkaError) -> KafkaClusterDescription
    func topicConfigurations(of topics: [String]) throws(KafkaError) -> [String: Result<[String: String], KafkaError>]
    func committedOffsets(
        of group: String, in partitions: [TopicPartition]
    ) throws(KafkaError) -> [TopicPartition: Int64]
    /// Asks each broker at the address that it advertises.
    func reachBrokers() throws(KafkaError)
    /// One topic, asked by its name: of one that the user may not see it is `failed`.
    func topic(_ name: String) throws(KafkaError) -> KafkaClusterDescription.Topic
    /// The rights that the user has.
    func rights(toRead input: String, as group: String, toWrite outputs: [String]) -> KafkaRights
    func createTopics(_ topics: [KafkaNewTopic]) throws(KafkaError) -> [String: Result<Void, KafkaError>]
}

extension KafkaAdmin: ClusterAdmin {}

/// Options that several commands have, with the steps that they stand for.
enum CommonOptions {
    static let config = Parameter<String?>.option(
        "config", .text, help: "YAML file with the configuration; GRANTOR_ environment variables win over it."
    ).namingFile()
    static let json = Parameter.flag("json", help: "Answer as JSON.")
    static let app = Parameter<BundleID?>.option("app", .id(), help: "Only those of the app with this bundle id.")
    static let user = Parameter<UserID?>.option("user", .id(), help: "Only those of this user.").takingHyphens()
    static let submission = Parameter<SubmissionID?>.option(
        "submission", .id(), help: "Only those of this submission.")
    static let wide = Parameter.flag("wide", help: "Cut no line to the terminal's width.")
    static let maxLimit = 1000
    static let limit = Parameter.option(
        "limit", .integer(1...maxLimit), default: 50, help: "Most rows, 1 to \(maxLimit).")
    static let before = Parameter<Int64?>.option(
        "before", .integer(Int64.min...Int64.max), help: "Continue a list: the number that the page before ended with.")
    /// Most characters of a note: a reason may become the detail of a failed event.
    static let mostOfNote = 500
    static let actor = Parameter.required(
        "actor", .line(most: mostOfNote), help: "The name or address of the person who does this.")
    static let reason = Parameter.required("reason", .line(most: mostOfNote), help: "Why, in one sentence.")

    /// `--config` and `--json`, for commands that answer questions.
    static let answering: [any AnyParameter] = [config, json]
    /// For commands that answer with a table.
    static let tabulating: [any AnyParameter] = answering + [wide]
}

extension ParsedArguments {
    /// Reads a part of the configuration that `--config` and the environment give; a mistake in it ends the command.
    ///
    /// Mistakes in other parts do not matter.
    func configuration<Part>(
        _ context: CommandContext, _ part: (SettingValues) throws(ConfigurationError) -> Part
    ) throws(CommandFailure) -> Part {
        let file = try self[CommonOptions.config]
        do throws(ConfigurationError) {
            return try part(SettingValues.load(file: file, environment: context.environment))
        } catch {
            throw CommandFailure(.configuration, error.description)
        }
    }

    func kafkaSettings(_ context: CommandContext) throws(CommandFailure) -> KafkaSettings {
        try configuration(context) { values throws(ConfigurationError) in try KafkaSettings(values) }
    }

    func ledgerSettings(_ context: CommandContext) throws(CommandFailure) -> LedgerSettings {
        try configuration(context) { values throws(ConfigurationError) in try LedgerSettings(values) }
    }

    /// The note of ``CommonOptions/actor`` and ``CommonOptions/reason``.
    func note(_ context: CommandContext) throws(CommandFailure) -> OperatorNote {
        OperatorNote(
            actor: try self[CommonOptions.actor], reason: try self[CommonOptions.reason], at: context.now())
    }

    /// The form that `--json` and `--wide` ask for.
    func format(_ context: CommandContext) -> OutputFormat {
        self[CommonOptions.json] ? .json : .text(width: self[CommonOptions.wide] ? nil : context.width)
    }
}
