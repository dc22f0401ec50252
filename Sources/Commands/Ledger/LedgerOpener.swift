import CommandParser
import Configuration
import Glibc
import Ledger
import LedgerSQLite

/// The way commands get at the ledger.
struct LedgerOpener: Sendable {
    /// Whether there is anything where the ledger should be; true where only a connection can tell.
    let exists: @Sendable (LedgerSettings) -> Bool
    /// Opens a ledger that is there, and makes none.
    let open: @Sendable (LedgerSettings) throws(LedgerError) -> any LedgerOperator
    /// Makes a ledger, or brings its schema up to date.
    ///
    /// - Returns: the versions of the schema before and after; 0 where there was no ledger.
    let migrate: @Sendable (LedgerSettings) throws(LedgerError) -> (from: Int, to: Int)

    /// The ledger of the configuration.
    static let configured = LedgerOpener(
        exists: { settings in
            switch settings {
            case .sqlite(let path): access(path, F_OK) == 0
            }
        },
        open: { settings throws(LedgerError) in
            switch settings {
            case .sqlite(let path): try SQLiteLedger(SQLiteLedgerConfiguration(path: path))
            }
        },
        migrate: { settings throws(LedgerError) in
            switch settings {
            case .sqlite(let path): try SQLiteLedger.migrate(SQLiteLedgerConfiguration(path: path))
            }
        })
}

extension LedgerError {
    /// The end of a command that a ledger failed.
    var failure: CommandFailure {
        switch self {
        case .unavailable(let detail), .disconnected(let detail):
            CommandFailure(.failed, "the ledger is unavailable now, try again: \(PrintableText.singleLine(detail))")
        case .unusable(let detail):
            CommandFailure(.configuration, "the ledger cannot be used: \(PrintableText.singleLine(detail))")
        }
    }
}

extension ParsedArguments {
    /// Puts a question to the configured ledger.
    func ledger<Answer>(
        _ context: CommandContext, _ question: (any LedgerOperator) throws(LedgerError) -> Answer
    ) throws(CommandFailure) -> Answer {
        let settings = try configuration(context) { values throws(ConfigurationError) in try LedgerSettings(values) }
        do throws(LedgerError) {
            return try question(context.ledgers.open(settings))
        } catch {
            throw error.failure
        }
    }
}
