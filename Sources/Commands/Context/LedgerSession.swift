import Audit
import CommandParser
import Configuration
import Ledger
import Worker

/// The way commands get at the ledger.
struct LedgerOpener: Sendable {
    /// Whether there is anything where the ledger should be; an error where none can be.
    let exists: @Sendable (LedgerSettings) throws(LedgerError) -> Bool
    /// Examines the conditions of a worker in the ledger's database. There may be no ledger, and the worker may delete
    /// old answers or not.
    let examine: @Sendable (LedgerSettings, _ prunes: Bool) throws(LedgerError) -> [LedgerFinding]
    /// Opens a ledger that is there, and makes none.
    let open: @Sendable (LedgerSettings) throws(LedgerError) -> any LedgerOperator
    /// Opens an existing ledger to read all of it, also from a standby.
    let openAudited: @Sendable (LedgerSettings) throws(LedgerError) -> AuditedLedger
    /// Makes a ledger, or brings its schema up to date.
    /// - Returns: the versions of the schema before and after; 0 where there was no ledger.
    let migrate: @Sendable (LedgerSettings) throws(LedgerError) -> (from: Int, to: Int)

    static let configured = LedgerOpener(
        exists: { settings throws(LedgerError) in try LedgerDriver(settings).exists() },
        examine: { settings, prunes throws(LedgerError) in try LedgerDriver(settings).examine(prunes: prunes) },
        open: { settings throws(LedgerError) in try LedgerDriver(settings).open() },
        openAudited: { settings throws(LedgerError) in
            let opened = try LedgerDriver(settings).openAudited()
            return AuditedLedger(opened.ledger, isStandby: opened.isStandby)
        },
        migrate: { settings throws(LedgerError) in try LedgerDriver(settings).migrate() })
}

/// The ledger of a command that puts many questions to it.
final class LedgerSession {
    private let ledger: any LedgerOperator
    /// Why the connection was lost; nil while it stands. A standby may have taken the ledger's place by then. One that
    /// was behind lacks the latest changes, also those that the ledger had confirmed.
    private(set) var loss: String?

    init(_ ledger: any LedgerOperator) { self.ledger = ledger }

    /// - Parameter changes: Whether the question is to change the ledger.
    /// - Throws: the end of the command.
    func callAsFunction<Answer>(
        changes: Bool = false, _ question: (any LedgerOperator) throws(LedgerError) -> Answer
    ) throws(CommandFailure) -> Answer {
        do throws(LedgerError) {
            return try question(ledger)
        } catch {
            if case .disconnected(let detail) = error { loss = PrintableText.singleLine(detail) }
            throw error.failure(ofChange: changes)
        }
    }
}

extension ParsedArguments {
    func session(_ context: CommandContext) throws(CommandFailure) -> LedgerSession {
        let settings = try ledgerSettings(context)
        do throws(LedgerError) {
            return LedgerSession(try context.ledgers.open(settings))
        } catch {
            throw error.failure
        }
    }

    /// Puts one question to the configured ledger.
    /// - Parameter changes: Whether the question is to change the ledger.
    func ledger<Answer>(
        _ context: CommandContext, changes: Bool = false,
        _ question: (any LedgerOperator) throws(LedgerError) -> Answer
    ) throws(CommandFailure) -> Answer { try session(context)(changes: changes, question) }
}
