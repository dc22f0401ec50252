import CommandParser
import Configuration
import Glibc
import Logging
import Metrics
import Worker

enum RunCommand {
    static let command = Command<CommandContext>(
        "run", "Runs the worker until SIGTERM or SIGINT.",
        discussion: """
            On a signal the worker stops reading, finishes what is in flight within GRANTOR_SHUTDOWN_TIMEOUT, publishes, \
            commits, leaves its group and exits 0. Work that does not end in time is read again after the next start. SIGHUP \
            reads the apps file again.
            """,
        [CommonOptions.config], run: run)

    private static func run(_ arguments: ParsedArguments, _ context: CommandContext) throws(CommandFailure) {
        // This comes before the first reading of the apps file, which SIGHUP repeats, and before any other thread,
        // because all inherit the mask.
        context.holdSignals()
        let configuration: WorkerConfiguration
        let readAt = context.now()
        do throws(CommandFailure) {
            configuration = try arguments.configuration(context) { values throws(ConfigurationError) in
                try WorkerConfiguration(values)
            }
            try context.checkClients(configuration.kafka)
        } catch {
            throw ended(error, by: logger(arguments, context))
        }
        let handler = context.logHandler(configuration.log.format)
        LoggingSystem.bootstrap(handler: handler, level: configuration.log.level)
        let logger = Logger(label: "grantor")
        logger.info("Starting", metadata: metadata(configuration))
        do throws(WorkerFailure) {
            try WorkerProcess(configuration, readAt: readAt, logger: logger) { registry, ledger throws(WorkerFailure) in
                guard let api = configuration.api else { return nil }
                return try APIServer(api, ledger: ledger, logger: logger, registry: registry).stop
            }.run()
        } catch {
            throw ended(CommandFailure(error), by: logger)
        }
        DescriptorWriter.standardError.finish(within: .seconds(1))
    }

    /// Says why the worker ends, in the form that all its lines have.
    /// - Returns: the end of a command that has said everything.
    private static func ended(_ failure: CommandFailure, by logger: Logger) -> CommandFailure {
        logger.error(
            failure.status == .configuration
                ? "The worker cannot work before a person mends the cause" : "The worker ends; a new one may work",
            metadata: [
                "cause": .text(failure.message ?? ""), "exit_code": .number(Int(failure.status.rawValue)),
                "version": .text(programVersion),
            ])
        DescriptorWriter.standardError.finish(within: .seconds(1))
        return CommandFailure(failure.status, nil)
    }

    /// The logger of a worker whose configuration cannot be used. Its form is that of the readable part of the
    /// configuration, else of the environment: a log collector can read no other.
    private static func logger(_ arguments: ParsedArguments, _ context: CommandContext) -> Logger {
        let settings = try? arguments.configuration(context) { values throws(ConfigurationError) in
            try LogSettings(values)
        }
        let named = context.environment["GRANTOR_LOG_FORMAT"].flatMap { LineLogHandler.Format(rawValue: $0) }
        return Logger(label: "grantor", handler: context.logHandler(settings?.format ?? named ?? .json))
    }

    /// The settings in force, without secrets, with version, host and process. A reader of the log needs these first.
    private static func metadata(_ configuration: WorkerConfiguration) -> Logger.Metadata {
        var metadata = Logger.Metadata(configuration.lines.map { ($0.name.key, .text($0.value)) }) { _, later in later }
        metadata["version"] = .text(programVersion)
        metadata["host"] = .text(HostName.current ?? "unknown")
        metadata["pid"] = .number(Int(getpid()))
        return metadata
    }
}

extension CommandFailure {
    init(_ failure: WorkerFailure) {
        switch failure {
        case .configuration(let detail), .ledger(let detail): self.init(.configuration, detail)
        case .failed(let detail): self.init(.failed, detail)
        }
    }
}
