import PostgresTesting

/// A PostgreSQL ledger with many grants in it, as ``FilledLedger`` is one of SQLite's: keys are spread over all that there can be
/// and written in their order.
struct FilledPostgresLedger {
    let server: PostgresServer
    let schema: String

    /// Fills a ledger that has its tables and nothing in them.
    func fill(rows: Int) async throws {
        for table in Self.tables {
            Progress.say("growth, \(rows) rows, PostgreSQL, \(table.name)")
            let indexes = try await indexes(of: table.name)
            for index in indexes { try await run("DROP INDEX \(index.name)") }
            // The parts of a key that count come first, and all digits of it are used.
            try await run(
                """
                SET synchronous_commit = off;
                \(table.insertion) FROM (
                    SELECT i, (spread || spread)::uuid AS id, spread, mixed FROM (
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

    private struct Table {
        let name: String
        /// The beginning of a statement that reads `i`, `id` and `spread` (in the order of `i`), and `mixed` (in none).
        let insertion: String
    }

    /// Rows as a worker writes them for a game's backend, of their usual lengths.
    private static let tables = [
        Table(
            name: "submissions",
            insertion: """
                INSERT INTO submissions (
                    sequence, bundle_id, submission_id, user_id, order_id, fingerprint, outcome, origin_topic,
                    origin_partition, origin_offset, received_at, settled_at, attempts, event_ids)
                OVERRIDING SYSTEM VALUE
                SELECT i, 'com.example.game', spread || '-filled-' || i, 'user-' || mixed || '-' || i,
                    'order-' || mixed || '-' || i, spread || mixed || spread || mixed || spread, 'granted',
                    'receipts.submitted', i % 48, i / 48, 1795000000000 + i, 1795000000000 + i, 1, uuid_send(id)
                """),
        Table(
            name: "grants",
            insertion: """
                INSERT INTO grants (
                    sequence, grant_key, environment, transaction_id, original_transaction_id, product_id, product_type,
                    quantity, items, purchased_at, is_upgraded, ownership, submission_id, user_id, bundle_id, order_id,
                    verified_by, granted_at)
                OVERRIDING SYSTEM VALUE
                SELECT i, 'production:t:' || (1000000000000000 + i), 'production', (1000000000000000 + i)::text,
                    (1000000000000000 + i)::text, 'gems', 'consumable', 1, '[{"item":"gems","quantity":1}]',
                    1795000000000 + i, false, 'purchased', spread || '-filled-' || i, 'user-' || mixed || '-' || i,
                    'com.example.game', 'order-' || mixed || '-' || i, 'signedTransaction', 1795000000000 + i
                """),
        Table(
            name: "outbox",
            insertion: """
                INSERT INTO outbox (sequence, event_id, kind, key, headers, value, grant_key)
                SELECT i, id, 'granted', convert_to('user-' || mixed || '-' || i, 'UTF8'),
                    convert_to(repeat('h', 200), 'UTF8'), convert_to(repeat('v', 500), 'UTF8'),
                    'production:t:' || (1000000000000000 + i)
                """),
    ]
}
