import Foundation
import GRDB
import Glibc
import Ledger
import Logging

/// A SQLite ledger with many grants in it, written in the ledger's own schema but not by it, which would take hours.
///
/// Keys are spread over all that there can be and written in their order, so that filling only appends, while what a worker
/// adds later falls between them.
struct FilledLedger {
    private static let rowsPerStatement = 1_000_000

    /// Makes one; the file must not be there.
    static func make(at file: URL, rows: Int) async throws {
        // The worker's own program makes the tables.
        let ledger = try await SQLiteLedger.open(
            SQLiteLedgerConfiguration(path: file.path, migrate: true),
            logger: Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() })
        try await ledger.close()
        let queue = try DatabaseQueue(path: file.path, configuration: configuration(rows))
        for table in tables {
            Progress.say("growth, \(rows) rows, \(table.name)")
            try await queue.write { try fill(table, rows: rows, $0) }
        }
        try await queue.write { database in
            // All of it is published.
            try database.execute(
                sql: "UPDATE relay SET last_sequence = :rows, published_through = :rows", arguments: ["rows": rows])
            try database.execute(
                sql: "INSERT INTO publications VALUES (1795000000, :rows, 1795000000000)", arguments: ["rows": rows])
        }
        try queue.close()
        // Else the disk is still busy with it while a worker is measured.
        sync()
    }

    private static func configuration(_ rows: Int) -> Configuration {
        let step = UInt64.max / UInt64(rows + 1)
        var configuration = Configuration()
        configuration.prepareDatabase { database in
            database.add(
                function: DatabaseFunction("spread", argumentCount: 1, pure: true) { values in
                    guard let row = UInt64.fromDatabaseValue(values[0]) else { return nil }
                    return Data((0..<16).map { UInt8(truncatingIfNeeded: (row &* step) >> ((7 - UInt64($0 % 8)) * 8)) })
                })
            // Nothing is lost with a file that can be made anew. Whoever opens it next goes back to a write-ahead log.
            try database.execute(
                sql: "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -500000")
        }
        return configuration
    }

    /// Indexes are made afterwards, by sorting.
    private static func fill(_ table: Table, rows: Int, _ database: Database) throws {
        let indexes = try Row.fetchAll(
            database,
            sql: "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL",
            arguments: [table.name])
        for index in indexes { try database.execute(sql: "DROP INDEX \(index["name"] as String)") }
        for start in stride(from: 1, through: rows, by: rowsPerStatement) {
            try database.execute(
                sql: """
                    WITH RECURSIVE numbers (i) AS (SELECT :start UNION ALL SELECT i + 1 FROM numbers WHERE i < :end)
                    \(table.insertion) FROM (
                        SELECT i, id, lower(hex(substr(id, 1, 8))) AS spread,
                            printf('%08x', (i * 2654435761) % 4294967296) AS mixed
                        FROM (SELECT i, spread(i) AS id FROM numbers))
                    """,
                arguments: ["start": start, "end": min(rows, start + rowsPerStatement - 1)])
        }
        for index in indexes { try database.execute(sql: index["sql"]) }
    }

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
                    sequence, bundle_id, submission_id, user_id, order_id, traceparent, fingerprint, outcome, origin_topic,
                    origin_partition, origin_offset, received_at, settled_at, attempts, event_ids)
                SELECT i, 'com.example.game', spread || '-filled-' || i, 'user-' || mixed || '-' || i, 'order-' || mixed || '-' || i,
                    NULL, spread || mixed || spread || mixed || spread, 'granted', 'receipts.submitted',
                    i % 48, i / 48, 1795000000000 + i, 1795000000000 + i, 1, id
                """),
        Table(
            name: "grants",
            insertion: """
                INSERT INTO grants (
                    sequence, grant_key, environment, transaction_id, original_transaction_id, product_id, product_type, quantity,
                    items, purchased_at, is_upgraded, ownership, submission_id, user_id, bundle_id, order_id, verified_by, granted_at)
                SELECT i, 'production:t:' || (1000000000000000 + i), 'production', 1000000000000000 + i, 1000000000000000 + i,
                    'gems', 'consumable', 1, '[{"item":"gems","quantity":1}]', 1795000000000 + i, 0, 'purchased',
                    spread || '-filled-' || i, 'user-' || mixed || '-' || i, 'com.example.game', 'order-' || mixed || '-' || i,
                    'signedTransaction', 1795000000000 + i
                """),
        Table(
            name: "outbox",
            insertion: """
                INSERT INTO outbox (sequence, event_id, kind, key, headers, value, grant_key)
                SELECT i, id, 'granted', CAST('user-' || mixed || '-' || i AS BLOB),
                    CAST(printf('%.*c', 200, 'h') AS BLOB), CAST(printf('%.*c', 500, 'v') AS BLOB),
                    'production:t:' || (1000000000000000 + i)
                """),
    ]
}
