import CommandParser
import Configuration
import Ledger

/// `grantor migrate`.
enum MigrateCommand {
    static let command = Command<CommandContext>(
        "migrate", "Creates the ledger, or brings its schema up to date.", CommonOptions.answering, run: run)

    private static func run(_ arguments: ParsedArguments, _ context: CommandContext) throws(CommandFailure) {
        let settings = try arguments.configuration(context) { values throws(ConfigurationError) in
            try LedgerSettings(values)
        }
        let migration: LedgerOpener.Migration
        do throws(LedgerError) {
            migration = try context.ledgers.migrate(settings)
        } catch {
            throw error.failure
        }
        try context.output(
            arguments.format(context).render(json: MigrationJSON(migration)) { _ in text(migration, of: settings) })
    }

    /// Names the ledger: an operator who forgot to say which one has made a new one at the working directory.
    private static func text(_ migration: LedgerOpener.Migration, of ledger: LedgerSettings) -> String {
        switch migration {
        case .alreadyCurrent: "The schema of \(ledger) is up to date.\n"
        case .migrated(let from, let to): "The schema of \(ledger) went from version \(from) to version \(to).\n"
        }
    }

    /// The versions only if something was done.
    private struct MigrationJSON: Encodable {
        let migrated: Bool
        let from, to: Int?

        init(_ migration: LedgerOpener.Migration) {
            switch migration {
            case .alreadyCurrent: (migrated, from, to) = (false, nil, nil)
            case .migrated(let old, let new): (migrated, from, to) = (true, old, new)
            }
        }
    }
}
