import Logging
import Purchases

extension PostgresLedger {
    public func relay() async throws(LedgerError) -> RelayState {
        try await pool.run { connection throws(PostgresFailure) in
            // One statement, so that the number and its exceptions belong together.
            let rows = try connection.run(
                PostgresCommand(
                    PostgresStatement(
                        once: """
                            SELECT r.published_through, w.sequence FROM outbox_relay r LEFT JOIN withheld w ON true
                            """))
            ).rows { row throws(PostgresFailure) in (try row.integer(0), try row.optionalInteger(1)) }
            guard let through = rows.first?.0 else { throw .damaged("the relay's row is gone") }
            return RelayState(publishedThrough: through, withheld: Set(rows.compactMap(\.1)))
        }
    }

    /// A connection of its own within one read-only transaction. While it is held the server keeps what is replaced or
    /// removed meanwhile.
    public func snapshot() async throws(LedgerError) -> any LedgerSnapshot {
        let pool = pool.alone()
        let snapshot = PostgresSnapshot(pool: pool)
        do throws(LedgerError) {
            try await pool.run { connection throws(PostgresFailure) in
                _ = try connection.run([
                    PostgresCommand(PostgresStatement(once: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")),
                    // Whoever reads takes its time between two pages.
                    PostgresCommand(PostgresStatement(once: "SET LOCAL idle_in_transaction_session_timeout = 0")),
                    // The first statement that reads is what the transaction sees.
                    PostgresCommand(PostgresStatement(once: "SELECT last_sequence FROM outbox_head")),
                ])
            }
        } catch {
            await snapshot.close()
            throw error
        }
        return snapshot
    }
}

/// A PostgreSQL ledger as of one moment.
struct PostgresSnapshot: LedgerSnapshot {
    /// One connection, which holds the transaction.
    let pool: PostgresPool

    func grants(after sequence: Int64, limit: Int) async throws(LedgerError) -> [GrantRow] {
        try await page(GrantPage.read(after: sequence, limit: Self.bounded(limit))) {
            result throws(PostgresFailure) in try result.rows(GrantPage.row)
        }
    }

    func submissions(after sequence: Int64, limit: Int) async throws(LedgerError) -> [SubmissionRow] {
        try await page(SubmissionPage.read(after: sequence, limit: Self.bounded(limit))) {
            result throws(PostgresFailure) in try result.rows(SubmissionPage.row)
        }
    }

    func quarantines(after sequence: Int64, limit: Int) async throws(LedgerError) -> [QuarantineRow] {
        let command = PostgresCommand(
            PostgresStatement(
                once: """
                    SELECT sequence, uuid_send(event_id), origin_topic, origin_partition, origin_offset, reason,
                        quarantined_at
                    FROM quarantines WHERE sequence > $1::bigint ORDER BY sequence LIMIT $2::bigint
                    """), [.integer(sequence), .integer(Int64(Self.bounded(limit)))])
        return try await page(command) { result throws(PostgresFailure) in
            try result.rows { row throws(PostgresFailure) in
                guard let id = EventIDBytes.decode(row.optionalBytes(1) ?? []).first else {
                    throw .damaged("a quarantined record has no event")
                }
                return QuarantineRow(
                    sequence: try row.integer(0), eventID: id,
                    origin: Origin(
                        topic: try row.text(2), partition: Int32(truncatingIfNeeded: try row.integer(3)),
                        offset: try row.integer(4)),
                    reason: try row.text(5), quarantinedAt: try row.time(6))
            }
        }
    }

    func deliveries(after sequence: Int64, limit: Int) async throws(LedgerError) -> [DeliveryRow] {
        try await page(DeliveryRows.rows(after: sequence, limit: Self.bounded(limit))) {
            result throws(PostgresFailure) in try result.rows(DeliveryRows.row)
        }
    }

    func events(after sequence: Int64, limit: Int) async throws(LedgerError) -> [OutboxEntry] {
        try await page(EventRows.originals(after: sequence, limit: Self.bounded(limit))) {
            result throws(PostgresFailure) in try EventRows.entries(result)
        }
    }

    func close() async {
        await pool.close()
    }

    private static func bounded(_ limit: Int) -> Int {
        min(max(limit, 0), PostgresLedger.maxPage)
    }

    private func page<Row: Sendable>(
        _ command: PostgresCommand,
        _ read: @escaping @Sendable (PostgresResult) throws(PostgresFailure) -> [Row]
    ) async throws(LedgerError) -> [Row] {
        try await pool.run { connection throws(PostgresFailure) in
            // A connection that was made anew sees another moment.
            guard connection.isInTransaction else { throw .lost("the snapshot is gone with its connection") }
            return try read(try connection.run(command))
        }
    }
}
