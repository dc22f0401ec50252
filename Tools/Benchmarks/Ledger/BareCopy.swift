import CSQLite
import LedgerSQLite

/// SQLite's own part of the cost. The same statements and commits insert a ledger's grants into a second one, with the
/// values in memory.
struct BareCopy {
    private let rows: [[OpaquePointer?]]
    private let target: OpaquePointer
    private let batch: Int

    struct Failure: Error { let code: Int32 }

    init(path: String, batch: Int) throws {
        let source = try Self.open(path)
        rows = try Self.values("SELECT * FROM grants ORDER BY sequence", of: source)
        sqlite3_close(source)
        try SQLiteLedger.migrate(SQLiteLedgerConfiguration(path: path + ".bare"))
        target = try Self.open(path + ".bare")
        self.batch = batch
        // As SQLiteOpening sets them.
        let settings = "PRAGMA synchronous = FULL; PRAGMA cache_size = -8192; PRAGMA wal_autocheckpoint = 8000"
        try Self.check(sqlite3_exec(target, settings, nil, nil, nil))
    }

    func run() throws {
        let columns = rows.first?.count ?? 1
        let parameters = Array(repeating: "?", count: columns).joined(separator: ", ")
        let insertion = try statement("INSERT INTO grants VALUES (\(parameters)) ON CONFLICT DO NOTHING")
        let answer = try statement("SELECT 1 FROM answers WHERE submission_id = ? AND app = 'com.example.game'")
        let (begin, commit) = (try statement("BEGIN IMMEDIATE"), try statement("COMMIT"))
        let submission = 17
        var clock = Stopwatch()
        clock.start()
        for start in stride(from: 0, to: rows.count, by: batch) {
            try step(begin)
            for row in rows[start..<min(rows.count, start + batch)] {
                Self.bind(row[submission], 1, of: answer)
                try step(answer)
                for (index, value) in row.enumerated() { Self.bind(value, Int32(index + 1), of: insertion) }
                try step(insertion)
            }
            try step(commit)
        }
        clock.stop()
        print("SQLite alone, the same rows and commits: \(clock.perItem(rows.count))")
        let bytes = try number("PRAGMA page_count") * number("PRAGMA page_size")
        print("\(bytes / Int64(rows.count)) bytes a row with its index entries")
    }

    private static func open(_ path: String) throws -> OpaquePointer {
        var database: OpaquePointer?
        try check(sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil))
        guard let database else { throw Failure(code: SQLITE_NOMEM) }
        return database
    }

    private static func check(_ code: Int32) throws {
        guard [SQLITE_OK, SQLITE_ROW, SQLITE_DONE].contains(code) else { throw Failure(code: code) }
    }

    private static func values(_ sql: String, of database: OpaquePointer) throws -> [[OpaquePointer?]] {
        var statement: OpaquePointer?
        try check(sqlite3_prepare_v2(database, sql, -1, &statement, nil))
        defer { sqlite3_finalize(statement) }
        var rows: [[OpaquePointer?]] = []
        while sqlite3_step(statement) == SQLITE_ROW {
            let columns = 0..<sqlite3_column_count(statement)
            // Never freed: the program ends with them.
            rows.append(columns.map { sqlite3_value_dup(sqlite3_column_value(statement, $0)) })
        }
        return rows
    }

    private func statement(_ sql: String) throws -> OpaquePointer? {
        var statement: OpaquePointer?
        try Self.check(sqlite3_prepare_v3(target, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil))
        return statement
    }

    private func step(_ statement: OpaquePointer?) throws {
        try Self.check(sqlite3_step(statement))
        sqlite3_reset(statement)
    }

    private func number(_ sql: String) throws -> Int64 {
        let statement = try statement(sql)
        defer { sqlite3_finalize(statement) }
        try Self.check(sqlite3_step(statement))
        return sqlite3_column_int64(statement, 0)
    }

    /// Without a copy, as the ledger binds.
    private static func bind(_ value: OpaquePointer?, _ index: Int32, of statement: OpaquePointer?) {
        switch sqlite3_value_type(value) {
        case SQLITE_INTEGER: sqlite3_bind_int64(statement, index, sqlite3_value_int64(value))
        case SQLITE_TEXT:
            let text = UnsafeRawPointer(sqlite3_value_text(value))?.assumingMemoryBound(to: CChar.self)
            sqlite3_bind_text(statement, index, text, sqlite3_value_bytes(value), nil)
        default: sqlite3_bind_null(statement, index)
        }
    }
}
