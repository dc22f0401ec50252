import Dispatch
import GRDB
public import Logging
import Metrics
public import Purchases

/// The embedded ledger: a SQLite file in WAL mode, every commit synced, one writer.
///
/// Calls run on SQLite's own queues, never on the cooperative pool, and to their end even when their task is
/// cancelled. After each, the file is looked for where it was opened: one that was deleted or replaced is
/// `.damaged`, whatever the call had written.
public struct SQLiteLedger: LedgerStore {
    /// Most rows that one page of a read returns.
    public static let maxPage = 1000

    let pool: DatabasePool
    private let files: FileGuard
    private let logger: Logger
    private let warnings: [Conclusion.Warning: Counter]

    /// Opens a ledger, and creates or migrates it if the configuration says so.
    ///
    /// - Throws: `.schemaBehind` if the file or its schema is missing or older and `migrate` is off, `.schemaAhead`,
    ///   `.unusable` if the path leads to no place for a file or to something that is no ledger, `.damaged` if the file
    ///   is damaged or lost a setting, `.unavailable` if another process keeps it locked or the disk is full.
    public static func open(
        _ configuration: SQLiteLedgerConfiguration, logger: Logger
    ) async throws(LedgerError) -> SQLiteLedger {
        let opened = await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(
                    returning: Result { () throws(LedgerError) in
                        try SQLiteOpening(configuration, logger: logger).open()
                    })
            }
        }
        let (pool, files) = try opened.get()
        return SQLiteLedger(pool: pool, files: files, logger: logger)
    }

    private init(pool: DatabasePool, files: FileGuard, logger: Logger) {
        self.pool = pool
        self.files = files
        self.logger = logger
        warnings = Dictionary(
            uniqueKeysWithValues: Conclusion.Warning.allCases.map {
                ($0, Counter(label: "grantor_ledger_warnings_total", dimensions: [("warning", $0.rawValue)]))
            })
    }

    /// Closes the file once the calls under way have ended; later calls are `.unusable`.
    public func close() async throws(LedgerError) {
        let pool = pool
        let closed = await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(returning: Result { try pool.close() }.mapError { LedgerError($0, at: pool.path) })
            }
        }
        try closed.get()
    }

    public func recorded(_ keys: [SubmissionKey]) async throws(LedgerError) -> [SubmissionKey: RecordedSubmission] {
        try await read { try SubmissionTable.recorded(keys, $0) }
    }

    public func settle(
        _ settlements: [Settlement], quarantines: [Quarantine], now: Timestamp
    ) async throws(LedgerError) -> SettleResult {
        // Events are encoded out here, where a batch does not keep the writer from the one before.
        let claims = settlements.map { settlement -> [GrantClaim] in
            guard case .grant(let purchases, let verifiedBy) = settlement.decision else { return [] }
            return GrantClaim.claims(of: purchases, by: verifiedBy, claimant: settlement.claimant, at: now)
        }
        let (conclusions, added, opened) = try await write { database in
            var transaction = try SettlingTransaction(database: database, now: now)
            let conclusions = try transaction.settle(settlements, claims: claims)
            try transaction.quarantine(quarantines)
            return (conclusions, try transaction.finish(), transaction.opened)
        }
        for (index, conclusion) in conclusions.enumerated() {
            if let warning = conclusion.warning { report(warning, settlements[index]) }
        }
        return SettleResult(outcomes: conclusions.map(\.outcome), added: added, opened: opened)
    }

    public func takeRelay(
        _ worker: WorkerID, for lease: Duration, now: Timestamp
    ) async throws(LedgerError) -> RelayTurn? {
        try await write { database in
            let relay = RelayTable(database: database)
            guard try relay.take(worker, until: now.advanced(by: lease), now: now) else { return nil }
            return RelayTurn(
                publishedThrough: try relay.publishedThrough(), withheld: try OutboxTable(database).withheld())
        }
    }

    public func outbox(after sequence: Int64, limit: Int) async throws(LedgerError) -> [OutboxEntry] {
        try await read { try OutboxTable($0).entries(after: sequence, limit: limit) }
    }

    public func published(
        _ note: RelayNote, by worker: WorkerID, for lease: Duration, now: Timestamp
    ) async throws(LedgerError) -> Bool {
        try await write { database in
            try RelayTable(database: database).note(note, by: worker, until: now.advanced(by: lease), now: now)
        }
    }

    public func leaveRelay(_ worker: WorkerID) async throws(LedgerError) {
        try await write { try RelayTable(database: $0).leave(worker) }
    }

    private func report(_ warning: Conclusion.Warning, _ settlement: Settlement) {
        warnings[warning]?.increment()
        let metadata: Logger.Metadata = [
            "bundleId": "\(settlement.key.bundleID)", "submissionId": "\(settlement.key.submissionID)",
            "userId": "\(settlement.claimant.userID)",
            "partition": "\(settlement.origin.partition)", "offset": "\(settlement.origin.offset)",
        ]
        switch warning {
        case .reusedID: logger.warning("A submission id was used for two different submissions", metadata: metadata)
        case .undecided:
            logger.error("A settlement had no decision to write; the submission is held", metadata: metadata)
        }
    }

    /// Runs a block in one `BEGIN IMMEDIATE` transaction that is on stable storage when this returns.
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(LedgerError) -> Value {
        let result: Result<Value, LedgerError> = await withCheckedContinuation { continuation in
            pool.asyncWriteWithoutTransaction { [files, path = pool.path] database in
                let result = Result<Value, any Error> {
                    guard database.sqliteConnection != nil else { throw LedgerError.unusable("the ledger is closed") }
                    var value: Value?
                    try database.inTransaction(.immediate) {
                        value = try body(database)
                        return .commit
                    }
                    try files.check()
                    guard let value else { throw LedgerError.unavailable("the transaction did not run") }
                    return value
                }
                continuation.resume(returning: result.mapError { LedgerError($0, at: path) })
            }
        }
        return try result.get()
    }

    /// Runs a block on a snapshot; works while a write is under way.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(LedgerError) -> Value {
        let result: Result<Value, LedgerError> = await withCheckedContinuation { continuation in
            pool.asyncRead { [files, path = pool.path] database in
                let result = Result<Value, any Error> {
                    let value = try body(try database.get())
                    try files.check()
                    return value
                }
                continuation.resume(returning: result.mapError { LedgerError($0, at: path) })
            }
        }
        return try result.get()
    }
}
