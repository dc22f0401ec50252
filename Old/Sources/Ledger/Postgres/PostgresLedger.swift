import Foundation
public import Logging
public import Purchases

/// The ledger for many workers: a PostgreSQL database, every commit synced.
///
/// Calls run on threads of their own, one per connection, never on the cooperative pool, and to their end even when their
/// task is cancelled. A connection that breaks is replaced by the next call; what a call had written whose answer was lost
/// is found again by the unique keys when the same is settled again.
public struct PostgresLedger: LedgerStore {
    /// Most rows that one page of a read returns.
    public static let maxPage = 1000

    /// How long a migration may take: an index over a large table is hours of work.
    private static let maxMigration = Duration.seconds(24 * 3600)

    let pool: PostgresPool
    let clock: LeaseClock
    private let warnings: SettlementWarnings

    /// Connects to a ledger.
    ///
    /// - Throws: `.schemaBehind` if the schema is missing or older, `.schemaAhead`, `.unusable` for settings that libpq
    ///   does not take, a wrong database, user or password and for rights that are missing, `.damaged` if commits would
    ///   not be on stable storage, `.unavailable` if the server does not answer, or takes no writes where they are needed.
    public static func open(
        _ configuration: PostgresLedgerConfiguration, logger: Logger
    ) async throws(LedgerError) -> PostgresLedger {
        let ledger = try await atOnce(configuration, within: configuration.limits.operation) {
            connection, session throws(PostgresFailure) in
            try PostgresSchema(connection: connection).check(session.ledger)
        }
        return PostgresLedger(
            pool: PostgresPool(configuration, ledger: ledger, logger: logger), clock: configuration.clock,
            warnings: SettlementWarnings(logger: logger))
    }

    /// Creates what is missing of a ledger, or brings its schema up to date, in one transaction. A large ledger may take
    /// hours, in which nothing is settled; only waits for others' locks are bounded as those of a worker's calls.
    ///
    /// - Returns: the schema's versions before and after.
    /// - Throws: as ``open(_:logger:)``, and `.unusable` if other tables have the ledger's names.
    public static func migrate(
        _ configuration: PostgresLedgerConfiguration
    ) async throws(LedgerError) -> (from: Int, to: Int) {
        try await atOnce(configuration, within: maxMigration) { connection, _ throws(PostgresFailure) in
            try PostgresSchema(connection: connection).migrate()
        }
    }

    /// Closes all connections once the calls under way have ended; later calls are `.unusable`.
    public func close() async {
        await pool.close()
    }

    public func recorded(_ keys: [SubmissionKey]) async throws(LedgerError) -> [SubmissionKey: RecordedSubmission] {
        try await pool.run { connection throws(PostgresFailure) in
            var recorded: [SubmissionKey: RecordedSubmission] = [:]
            for (key, prior) in try SubmissionRows.found(try connection.run(SubmissionRows.look(up: keys))) {
                recorded[key] = RecordedSubmission(fingerprint: prior.fingerprint, outcome: prior.outcome)
            }
            return recorded
        }
    }

    public func settle(
        _ settlements: [Settlement], quarantines: [Quarantine], now: Timestamp
    ) async throws(LedgerError) -> SettleResult {
        // Decided and encoded out here, where a batch does not keep a connection from the one before.
        let settling = PostgresSettling(settlements, quarantines: quarantines, now: now, clock: clock)
        let result = try await pool.run { connection throws(PostgresFailure) in try settling.run(on: connection) }
        for (settlement, conclusion) in zip(settlements, result.conclusions) {
            if let warning = conclusion.warning { warnings.report(warning, of: settlement) }
        }
        return SettleResult(outcomes: result.conclusions.map(\.outcome), added: result.added, opened: result.opened)
    }

    public func takeRelay(
        _ worker: WorkerID, for lease: Duration, now: Timestamp
    ) async throws(LedgerError) -> RelayTurn? {
        try await pool.run { connection throws(PostgresFailure) in
            let results = try connection.run([RelayRows.take(worker, for: lease), EventRows.withheld])
            guard results.count == 2 else { throw .lost("unexpected answer") }
            guard let through = try RelayRows.publishedThrough(results[0]) else { return nil }
            return RelayTurn(publishedThrough: through, withheld: try EventRows.entries(results[1]))
        }
    }

    public func outbox(after sequence: Int64, limit: Int) async throws(LedgerError) -> [OutboxEntry] {
        try await pool.run { connection throws(PostgresFailure) in
            try EventRows.entries(try connection.run(EventRows.entries(after: sequence, limit: limit)))
        }
    }

    public func published(
        _ note: RelayNote, by worker: WorkerID, for lease: Duration, now: Timestamp
    ) async throws(LedgerError) -> Bool {
        try await pool.run { connection throws(PostgresFailure) in
            try RelayRows.wasNoted(try connection.run(RelayRows.note(note, by: worker, for: lease, now: now)))
        }
    }

    public func leaveRelay(_ worker: WorkerID) async throws(LedgerError) {
        try await pool.run { connection throws(PostgresFailure) in
            _ = try connection.run(RelayRows.leave(worker))
        }
    }

    /// Does one thing on a connection of its own, and says at once what a person has to set right.
    private static func atOnce<Value: Sendable>(
        _ configuration: PostgresLedgerConfiguration, within limit: Duration,
        _ body: @escaping @Sendable (PostgresConnection, PostgresSession) throws(PostgresFailure) -> Value
    ) async throws(LedgerError) -> Value {
        let options = configuration.completedOptions
        let limits = configuration.limits
        let result: Result<Value, PostgresFailure> = await withCheckedContinuation { continuation in
            PostgresThread.start {
                continuation.resume(
                    returning: Result { () throws(PostgresFailure) in
                        try PostgresSettings(options: options).check()
                        let connection = try PostgresConnection(options, within: limits.connect)
                        let session = try PostgresSession(connection, limits)
                        if configuration.needsWrites { try session.checkWrites() }
                        connection.allow(limit)
                        return try body(connection, session)
                    })
            }
        }
        return try result.mapError { LedgerError(opening: $0) }.get()
    }
}
