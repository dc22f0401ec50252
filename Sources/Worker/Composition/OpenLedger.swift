import Fulfillment
import Ledger
import Logging

/// The configured ledger, of either kind, while it is open.
struct OpenLedger: Sendable {
    let ledger: any PipelineLedger & DeliveryRoom & OperatorLedger
    private let closing: @Sendable () async throws(LedgerError) -> Void

    /// Opens the ledger that is there.
    ///
    /// - Parameter migratingFile: whether a missing or older SQLite file is brought up to date. A database that several
    ///   workers share is only ever changed by `grantor migrate`.
    init(_ settings: LedgerSettings, migratingFile: Bool, logger: Logger) async throws(LedgerError) {
        switch settings {
        case .file(let path):
            let ledger = try await SQLiteLedger.open(
                SQLiteLedgerConfiguration(path: path, migrate: migratingFile), logger: logger)
            self.ledger = ledger
            closing = { () async throws(LedgerError) in try await ledger.close() }
        case .server(let configuration):
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
