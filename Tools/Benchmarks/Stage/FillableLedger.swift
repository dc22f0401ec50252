import CSQLite
import Contract
import Foundation
import Ledger
import LedgerPostgres
import LedgerSQLite
import PostgresTesting

/// A ledger that can be filled with grants faster than a worker writes them.
protocol FillableLedger {
    var connection: any LedgerConnection { get }
    /// An expression for a random text as long as a UUID without hyphens.
    static var randomText: String { get }

    /// Runs statements on a connection of its own.
    /// - Returns: the first column of the last one's rows.
    @discardableResult
    func run(_ sql: String) throws -> [String]

    /// The statements that make the indexes of `grants`.
    func indexes() throws -> [String]

    /// Moves the written pages from the log into the database.
    func checkpoint() throws
}

extension FillableLedger {
    func takeOver() throws {
        _ = try connection.takeOver([TakeOver(ownership: PurchaseSeries.ownership, owner: "bench", committed: nil)])
    }

    /// Copies one grant again and again, under ids that ascend and users that are random. The indexes are made when the
    /// rows are there.
    func fill(_ count: Int) throws {
        let indexes = try indexes()
        for index in indexes {
            let name = index.split(separator: " ").drop { $0 != "INDEX" }.dropFirst().first ?? ""
            try run("DROP INDEX \(name)")
        }
        let copied = """
            product, purchased_at, received_at, granted_at, price, origin_partition, quantity, attempts, environment, \
            format, currency, storefront, verified_by
            """
        let step = 1_000_000
        for start in stride(from: 0, to: count, by: step) {
            try run(
                """
                WITH RECURSIVE numbers(n) AS
                    (SELECT \(start) UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < \(min(count, start + step)))
                INSERT INTO grants (\(copied), transaction_id, submission_id, user_id, origin_offset)
                SELECT \(copied), CAST(2000000000000000 + n AS text), CAST(10000000 + n AS text) || \(Self.randomText),
                    \(Self.randomText), n
                FROM numbers, (SELECT * FROM grants ORDER BY sequence LIMIT 1) AS one
                """)
            Console.tell("\(start / step + 1) million\r")
        }
        for index in indexes { try run(index) }
        try checkpoint()
    }
}

enum GrowthLedgers {
    /// Two ledgers in one place, both empty.
    static func make(_ kind: LedgerKind) throws -> (any FillableLedger, any FillableLedger) {
        switch kind {
        case .postgres:
            // As a small server for so many rows is set.
            let settings = [
                "fsync = on", "shared_buffers = 1GB", "max_wal_size = 4GB", "maintenance_work_mem = 1GB",
            ]
            let server = try PostgresServer(settings: settings, isOnDisk: true)
            return (try FillablePostgres(server, "few"), try FillablePostgres(server, "many"))
        case .sqlite:
            let folder = FileManager.default.temporaryDirectory.path + "/grantor-growth-\(getpid())"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            return (try FillableSQLite(folder + "/few.db"), try FillableSQLite(folder + "/many.db"))
        }
    }
}

struct FillablePostgres: FillableLedger {
    static let randomText = "md5(random()::text)"
    let connection: any LedgerConnection
    private let server: PostgresServer
    private let name: String

    init(_ server: PostgresServer, _ name: String) throws {
        let configuration = try PostgresLedgerConfiguration(url: try server.createDatabase(name))
        try PostgresLedger.migrate(configuration)
        connection = try PostgresLedger(configuration)
        (self.server, self.name) = (server, name)
    }

    func run(_ sql: String) throws -> [String] { try server.run(sql, database: name).map { [$0] } ?? [] }

    func indexes() throws -> [String] {
        let names = "tablename = 'grants' AND indexname <> 'grants_pkey'"
        let all = try run("SELECT string_agg(indexdef, ';') FROM pg_indexes WHERE \(names)")
        return all.flatMap { $0.split(separator: ";").map { String($0) } }
    }

    func checkpoint() throws { _ = try run("CHECKPOINT") }
}

final class FillableSQLite: FillableLedger {
    static let randomText = "lower(hex(randomblob(16)))"
    let connection: any LedgerConnection
    private let path: String

    init(_ path: String) throws {
        let configuration = SQLiteLedgerConfiguration(path: path)
        try SQLiteLedger.migrate(configuration)
        connection = try SQLiteLedger(configuration)
        self.path = path
    }

    deinit {
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    }

    func run(_ sql: String) throws -> [String] {
        var database: OpaquePointer?
        defer { sqlite3_close(database) }
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        guard sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK,
            sqlite3_exec(database, "PRAGMA cache_size = -1000000; PRAGMA temp_store = FILE", nil, nil, nil)
                == SQLITE_OK,
            sqlite3_prepare_v2(database, sql, -1, &statement, nil) == SQLITE_OK
        else { throw failure(database) }
        var rows: [String] = []
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW: rows.append(sqlite3_column_text(statement, 0).map { String(cString: $0) } ?? "")
            case SQLITE_DONE: return rows
            default: throw failure(database)
            }
        }
    }

    private func failure(_ database: OpaquePointer?) -> BenchFailure {
        BenchFailure("SQLite: \(sqlite3_errmsg(database).map { String(cString: $0) } ?? "no message")")
    }

    func indexes() throws -> [String] {
        try run("SELECT sql FROM sqlite_master WHERE type = 'index' AND tbl_name = 'grants' AND sql IS NOT NULL")
    }

    /// The connection makes its own, as it writes.
    func checkpoint() throws { _ = try run("PRAGMA wal_checkpoint(PASSIVE)") }
}
