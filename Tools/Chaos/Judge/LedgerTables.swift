import CLibpq
import CSQLite

/// The tables of a ledger, read by SQL of the judge's own.
struct LedgerTables {
    /// The file, or the URL of the database.
    private let place: String

    init(_ place: String) { self.place = place }

    /// The number of a table's rows, or of those that a condition behind its name leaves; -1 if the ledger cannot be
    /// read.
    func count(_ table: String) -> Int {
        rows("SELECT count(*) FROM \(table)")?.first?.first.flatMap { Int($0) } ?? -1
    }

    /// The submission of each transaction that is granted; empty if the ledger cannot be read.
    func grants() -> [String: String] {
        let rows = rows("SELECT transaction_id, submission_id FROM grants") ?? []
        return Dictionary(rows.map { ($0[0], $0[1]) }) { first, _ in first }
    }

    /// The texts of each row; nil if the ledger cannot be read.
    func rows(_ sql: String) -> [[String]]? { place.hasPrefix("postgres") ? postgres(sql) : sqlite(sql) }

    private func postgres(_ sql: String) -> [[String]]? {
        let connection = PQconnectdb(place)
        defer { PQfinish(connection) }
        let result = PQexec(connection, sql)
        defer { PQclear(result) }
        guard PQresultStatus(result) == PGRES_TUPLES_OK else { return nil }
        return (0..<PQntuples(result)).map { row in
            (0..<PQnfields(result)).map { column in PQgetvalue(result, row, column).map { String(cString: $0) } ?? "" }
        }
    }

    private func sqlite(_ sql: String) -> [[String]]? {
        var database: OpaquePointer?
        guard sqlite3_open_v2(place, &database, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK else { return nil }
        defer { sqlite3_close(database) }
        sqlite3_busy_timeout(database, 10_000)
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(database, sql, -1, &statement, nil) == SQLITE_OK else { return nil }
        defer { sqlite3_finalize(statement) }
        var rows: [[String]] = []
        while sqlite3_step(statement) == SQLITE_ROW {
            rows.append(
                (0..<sqlite3_column_count(statement)).map { column in
                    sqlite3_column_text(statement, column).map { String(cString: $0) } ?? ""
                })
        }
        return rows
    }
}
