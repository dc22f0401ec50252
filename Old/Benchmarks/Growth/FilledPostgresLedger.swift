import PostgresTesting

/// A PostgreSQL ledger with many grants in it, as ``FilledLedger`` is one of SQLite's: keys are spread over all that there can be
/// and written in their order.
struct FilledPostgresLedger {
    let server: PostgresServer
    let schema: String

    /// Fills a ledger that has its tables and nothing in them.
    func fill(rows: Int) async throws {
        for table in FilledTable.all(overriding: "OVERRIDING SYSTEM VALUE", bytes: { "convert_to(\($0), 'UTF8')" }) {
            Progress.say("growth, \(rows) rows, PostgreSQL, \(table.name)")
            let indexes = try await indexes(of: table.name)
            for index in indexes { try await run("DROP INDEX \(index.name)") }
            // The parts of a key that count come first, and all digits of it are used.
            try await run(
                """
                SET synchronous_commit = off;
                \(table.insertion) FROM (
                    SELECT i, (spread || spread)::uuid AS id, uuid_send((spread || spread)::uuid) AS id_bytes, spread, mixed
                    FROM (
                        SELECT i, lpad(to_hex((i * 4294967296 / \(rows + 1))), 8, '0') || lpad(to_hex(i), 8, '0') AS spread,
                            lpad(to_hex(i * 2654435761 % 4294967296), 8, '0') AS mixed
                        FROM generate_series(1::bigint, \(rows)) i) numbers) keys
                """)
            for index in indexes { try await run(index.definition) }
        }
        // All of it is published.
        try await run(
            """
            UPDATE outbox_head SET last_sequence = \(rows);
            UPDATE outbox_relay SET published_through = \(rows);
            INSERT INTO publications VALUES (1795000000, \(rows), 1795000000000);
            SELECT setval(pg_get_serial_sequence('submissions', 'sequence'), \(rows)),
                setval(pg_get_serial_sequence('grants', 'sequence'), \(rows));
            """)
        // Else the server would do both while a worker is measured.
        try await run("VACUUM ANALYZE")
        try await run("CHECKPOINT")
    }

    /// Those that are no constraint's.
    private func indexes(of table: String) async throws -> [(name: String, definition: String)] {
        let answer = try await run(
            """
            SELECT indexname || '|' || indexdef FROM pg_indexes
            WHERE schemaname = '\(schema)' AND tablename = '\(table)'
                AND NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conname = indexname)
            """)
        return answer.split(separator: "\n").compactMap { line in
            let parts = line.split(separator: "|", maxSplits: 1)
            return parts.count == 2 ? (String(parts[0]), String(parts[1])) : nil
        }
    }

    @discardableResult
    private func run(_ sql: String) async throws -> String { try await server.query(sql, schema: schema) }
}
