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
        for table in FilledTable.all(bytes: { "CAST(\($0) AS blob)" }) {
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
    private static func fill(_ table: FilledTable, rows: Int, _ database: Database) throws {
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
                        SELECT i, id, id AS id_bytes, lower(hex(substr(id, 1, 8))) AS spread,
                            printf('%08x', (i * 2654435761) % 4294967296) AS mixed
                        FROM (SELECT i, spread(i) AS id FROM numbers))
                    """,
                arguments: ["start": start, "end": min(rows, start + rowsPerStatement - 1)])
        }
        for index in indexes { try database.execute(sql: index["sql"]) }
    }
}
