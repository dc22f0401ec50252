import ArgumentParser
import Foundation
import Kafka
import Ledger
import Logging
import Purchases

/// `--config`, for every command that reads the configuration.
struct ConfigurationOptions: ParsableArguments {
    @Option(name: .long, help: "YAML file with the configuration; GRANTOR_ environment variables win over it.")
    var config: String?

    /// Reads the configuration, or says what is wrong with it and ends with 78.
    func load(environment: [String: String] = ProcessInfo.processInfo.environment) throws -> WorkerConfiguration {
        try Self.reporting { () throws(ConfigurationError) in
            try WorkerConfiguration.load(file: config, environment: environment)
        }
    }

    /// Reads the part of the configuration that a command needs, or says what is wrong with it and ends with 78. What it
    /// does not need keeps nobody from looking into a ledger at night.
    func load<Part>(_ part: (ConfigurationValues) throws(ConfigurationError) -> Part) throws -> Part {
        try Self.reporting { () throws(ConfigurationError) in
            let values = try ConfigurationValues.load(
                file: config, environment: ProcessInfo.processInfo.environment)
            return try values.locating { () throws(ConfigurationError) in try part(values) }
        }
    }

    /// Reads all that a worker needs and makes sure that its libraries take it, before a ledger is made or a group joined;
    /// or says what is wrong with it and ends with 78.
    func loadPlan() async throws -> (settings: WorkerConfiguration, plan: WorkerPlan) {
        let settings = try load()
        let plan = try Self.reporting { () throws(ConfigurationError) in
            try settings.locating { () throws(ConfigurationError) in try WorkerPlan(settings) }
        }
        do throws(KafkaError) {
            try await plan.kafka.check()
        } catch {
            throw error.exitStatus.saying("Kafka: \(settings.kafka.words(error))")
        }
        return (settings, plan)
    }

    func validate() throws {
        guard config != "" else { throw ValidationError("--config must name a file, and names none") }
    }

    /// Runs a step whose configuration errors are said and end with 78.
    static func reporting<Result>(_ step: () throws(ConfigurationError) -> Result) throws -> Result {
        do {
            return try step()
        } catch {
            throw ExitStatus.configuration.saying(error.description)
        }
    }
}

/// `--json`, for commands that answer.
struct AnswerOptions: ParsableArguments {
    @OptionGroup var configuration: ConfigurationOptions

    @Flag(name: .long, help: "Answer as JSON.")
    var json = false

    /// Puts a question to the configured ledger and prints the answer.
    func answer(
        _ question: (any OperatorLedger, AnswerFormat) async throws(LedgerError) -> OperatorAnswer
    ) async throws {
        let settings = try configuration.load { values throws(ConfigurationError) in try LedgerSettings(values) }
        let answer: OperatorAnswer
        do throws(LedgerError) {
            let ledger = try await LedgerOpener.current.reader(settings, CommandLogger.make(label: "ledger"))
            answer = try await question(ledger, json ? .json : .text(width: Terminal.width()))
        } catch {
            throw error.exitStatus.saying("\(error)")
        }
        switch answer {
        case .found(let text): try StandardOutput.write(text)
        case .notFound(let line): throw ExitStatus.failed.saying(line)
        }
    }
}

/// `--limit` and `--before`, for commands with long answers.
struct PageOptions: ParsableArguments {
    @Option(name: .long, help: "Most rows, 1 to \(Page.maxLimit).")
    var limit = Page.standardLimit

    @Option(name: .long, help: "Continue a list: the number that the page before ended with.")
    var before: Int64?

    var page: Page { Page(before: before, limit: limit) }

    func validate() throws {
        guard (1...Page.maxLimit).contains(limit) else {
            throw ValidationError("--limit must be from 1 to \(Page.maxLimit)")
        }
    }
}

/// The log of commands that end by themselves: warnings only, for people, on standard error.
enum CommandLogger {
    static func make(label: String) -> Logger {
        var settings = LogSettings()
        settings.level = .warning
        settings.format = .text
        return LogDestination(
            settings: settings, now: CommandClock.now
        )
        .logger(label: label)
    }
}
