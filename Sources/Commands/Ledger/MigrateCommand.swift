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
        let versions: (from: Int, to: Int)
        do throws(LedgerError) {
            versions = try context.ledgers.migrate(settings)
        } catch {
            throw error.failure
        }
        let answer = Migration(
            ledger: "\(settings)", migrated: versions.from != versions.to, from: versions.from, to: versions.to)
        try context.output(arguments.format(context).render(json: answer) { _ in answer.text })
    }

    private struct Migration: Encodable {
        let ledger: String
        let migrated: Bool
        /// Versions of the schema; 0 where there was no ledger.
        let from, to: Int

        /// Names the ledger: an operator who forgot to say which one has made a new one at the working directory.
        var text: String {
            migrated
                ? "The schema of \(ledger) went from version \(from) to version \(to).\n"
                : "The schema of \(ledger) is up to date.\n"
        }
    }
}
