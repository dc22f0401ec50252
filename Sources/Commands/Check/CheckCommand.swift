import CommandParser
import Configuration
import Contract
import Ledger

/// `grantor check`.
enum CheckCommand {
    static let command = Command<CommandContext>(
        "check", "Checks configuration, broker, topics, ledger and the way to Apple, each with a clear result.",
        discussion: """
            Changes nothing. Exits 0 only if everything is as a worker needs it, warnings included, and 78 where the \
            configuration itself is refused, as run does.
            """,
        [CommonOptions.config], run: run)

    private static func run(_ arguments: ParsedArguments, _ context: CommandContext) throws(CommandFailure) {
        let configuration = try arguments.configuration(context) { values throws(ConfigurationError) in
            try WorkerConfiguration(values)
        }
        try context.checkClients(configuration.kafka)
        let settings = TextTable(
            header: ["KEY", "VALUE", "FROM"],
            rows: configuration.lines.map { [$0.name.key, $0.value, $0.source.rawValue] })
        try context.output(settings.text() + "\n")
        let apple = try context.apple(configuration.apple)
        let results =
            KafkaCheck(settings: configuration.kafka, cluster: context.cluster(configuration.kafka)).results()
            + [ledger(configuration.ledger, context)]
            + AppleCheck(apple: apple, now: context.now).results(configuration.apps)
            + inventory(configuration.apps)
        try context.output(TextTable(header: ["CHECK", "RESULT", "DETAIL"], rows: results.map(\.row)).text())
        if results.contains(where: { $0.outcome == .failed }) { throw CommandFailure(.failed, nil) }
    }

    private static func ledger(_ settings: LedgerSettings, _ context: CommandContext) -> CheckResult {
        guard context.ledgers.exists(settings) else {
            return CheckResult("ledger", .warning, "there is none yet; grantor migrate or grantor run makes it")
        }
        do throws(LedgerError) {
            let ledger = try context.ledgers.open(settings)
            return CheckResult(
                "ledger", .good, "\(try ledger.identity()), \(try ledger.outbox(limit: 1000).count) owed")
        } catch {
            return CheckResult("ledger", .failed, error.failure.message ?? "")
        }
    }

    /// A worker refuses what it does not call.
    private static func inventory(_ apps: ConfiguredApps) -> [CheckResult] {
        apps.all.compactMap { app in
            app.inventory.map { service in
                CheckResult(
                    "inventory service, \(app.app.bundleID)", .failed,
                    "configured, and not called by this version: grantor run refuses it; \(service.url)")
            }
        }
    }
}
