import Fulfillment
import Ledger
import Logging

/// The configured ledger, of either kind, while it is open.
struct OpenLedger: Sendable {
    let ledger: any PipelineLedger & DeliveryRoom & OperatorLedger
    private let closing: @Sendable () async throws(LedgerError) -> Void

    /// Opens the ledger that is there.
    ///
    /// - Parameters:
    ///   - migratingFile: whether a missing or older SQLite file is brought up to date. A database that several workers
    ///     share is only ever changed by `grantor migrate`.
    ///   - needsWrites: whether a database that takes none is unavailable; one that is only read may be a standby.
    init(
        _ settings: LedgerSettings, migratingFile: Bool, needsWrites: Bool = true, logger: Logger
    ) async throws(LedgerError) {
        switch settings {
        case .file(let path):
            let ledger = try await SQLiteLedger.open(
                SQLiteLedgerConfiguration(path: path, migrate: migratingFile), logger: logger)
            self.ledger = ledger
            closing = { () async throws(LedgerError) in try await ledger.close() }
        case .server(var configuration):
            configuration.needsWrites = needsWrites
            let ledger = try await PostgresLedger.open(configuration, logger: logger)
            self.ledger = ledger
            closing = { () async throws(LedgerError) in await ledger.close() }
        }
    }

    /// Ends once the calls under way have ended.
    func close() async throws(LedgerError) {
        try await closing()
    }
}
