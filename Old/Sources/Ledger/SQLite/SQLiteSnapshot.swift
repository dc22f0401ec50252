import Dispatch
import GRDB
import Purchases

extension SQLiteLedger {
    public func relay() async throws(LedgerError) -> RelayState {
        // One read transaction, so that the number and its exceptions belong together.
        try await read { database in
            let withheld = try PreparedStatement("SELECT sequence FROM withheld", on: database)
            return RelayState(
                publishedThrough: try RelayTable(database: database).publishedThrough(),
                withheld: Set(try withheld.rows({ _ in }) { $0.integer(0) }))
        }
    }

    /// While it is held SQLite's write-ahead log is not emptied, and grows with what is written.
    public func snapshot() async throws(LedgerError) -> any LedgerSnapshot {
        let pool = pool
        let opened = await withCheckedContinuation { continuation in
            // Opens a connection, which blocks.
            DispatchQueue.global().async {
                continuation.resume(
                    returning: Result { try pool.makeSnapshot() }.mapError { LedgerError($0, at: pool.path) })
            }
        }
        return SQLiteSnapshot(database: try opened.get())
    }
}

/// A SQLite ledger as of one moment: a connection of its own within one read transaction.
struct SQLiteSnapshot: LedgerSnapshot {
    let database: DatabaseSnapshot

    func grants(after sequence: Int64, limit: Int) async throws(LedgerError) -> [GrantRow] {
        try await read { try GrantTable.rows($0, after: sequence, limit: limit) }
    }

    func submissions(after sequence: Int64, limit: Int) async throws(LedgerError) -> [SubmissionRow] {
        try await read { try SubmissionTable.rows($0, after: sequence, limit: limit) }
    }

    func quarantines(after sequence: Int64, limit: Int) async throws(LedgerError) -> [QuarantineRow] {
        try await read { database in
            let statement = try PreparedStatement(
                """
                SELECT sequence, event_id, origin_topic, origin_partition, origin_offset, reason, quarantined_at
                FROM quarantines WHERE sequence > ? ORDER BY sequence LIMIT ?
                """, on: database)
            return try statement.rows(after: sequence, limit: limit) { row in
                guard let id = EventIDBytes.decode(row.optionalBlob(1) ?? []).first else {
                    throw LedgerError.damaged("a quarantined record has no event")
                }
                return QuarantineRow(
                    sequence: row.integer(0), eventID: id,
                    origin: Origin(
                        topic: row.text(2), partition: Int32(truncatingIfNeeded: row.integer(3)), offset: row.integer(4)
                    ),
                    reason: row.text(5), quarantinedAt: row.time(6))
            }
        }
    }

    func deliveries(after sequence: Int64, limit: Int) async throws(LedgerError) -> [DeliveryRow] {
        try await read { try DeliveryTable.rows($0, after: sequence, limit: limit) }
    }

    func events(after sequence: Int64, limit: Int) async throws(LedgerError) -> [OutboxEntry] {
        try await read { try OutboxTable.originals($0, after: sequence, limit: limit) }
    }

    func close() async {
        let database = database
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                // A connection that cannot be closed is freed with its last reference.
                try? database.close()
                continuation.resume()
            }
        }
    }

    private func read<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(LedgerError) -> Value {
        let result: Result<Value, LedgerError> = await withCheckedContinuation { continuation in
            database.asyncRead { [path = database.path] database in
                continuation.resume(
                    returning: Result { try body(try database.get()) }.mapError { LedgerError($0, at: path) })
            }
        }
        return try result.get()
    }
}

extension PreparedStatement {
    /// Runs a query whose parameters are a sequence and a limit.
    func rows<Row>(after sequence: Int64, limit: Int, read: (Columns) throws -> Row) throws -> [Row] {
        try rows(
            {
                $0.integer(sequence)
                $0.integer(Int64(min(max(limit, 0), SQLiteLedger.maxPage)))
            }, read: read)
    }
}
