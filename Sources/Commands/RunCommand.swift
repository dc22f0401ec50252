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
        let configuration = try arguments.configuration(context) { values throws(ConfigurationError) in
            try WorkerConfiguration(values)
        }
        try context.checkClients(configuration.kafka)
        LoggingSystem.bootstrap(
            handler: LineLogHandler(format: configuration.log.format), level: configuration.log.level)
        let logger = Logger(label: "grantor")
        logger.info("Starting", metadata: metadata(configuration))
        do throws(WorkerFailure) {
            try WorkerProcess(configuration, logger: logger).run()
        } catch {
            let failure = CommandFailure(error)
            logger.error(
                failure.status == .configuration
                    ? "The worker cannot work before a person mends the cause" : "The worker ends; a new one may work",
                metadata: ["cause": failure.message ?? "", "exitCode": "\(failure.status.rawValue)"])
            DescriptorWriter.standardError.finish(within: .seconds(1))
            // The log has said it.
            throw CommandFailure(failure.status, nil)
        }
        DescriptorWriter.standardError.finish(within: .seconds(1))
    }

    /// The settings in force, without secrets: the first thing that somebody asks for who looks into a log.
    private static func metadata(_ configuration: WorkerConfiguration) -> Logger.Metadata {
        Logger.Metadata(configuration.lines.map { ($0.name.key, $0.value) }) { _, later in later }
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
