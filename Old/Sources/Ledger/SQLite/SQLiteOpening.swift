internal import CSQLiteSettings
import Foundation
import GRDB
import Logging
import Purchases

/// Opens a ledger's file and makes sure of all that its promises rest on. Blocking; run off the cooperative pool.
struct SQLiteOpening {
    /// Marks a SQLite file as a ledger: "GRNT".
    static let applicationID = 0x4752_4E54

    /// Page cache of the writer, in KiB. Ids arrive in no order, so each batch touches pages all over the indexes; a larger
    /// cache saves time (about a quarter at 60,000 rows with 64 MiB) and is memory that grows with the ledger.
    private static let cacheKiB = 8_192
    /// Pages in the write-ahead log before they are moved to the database: seldom enough that a page which several
    /// batches touch is moved once.
    private static let checkpointPages = 8_000
    /// Between two tries at a file that another process is making, in seconds.
    private static let busyPause = 0.01

    let configuration: SQLiteLedgerConfiguration
    /// The configured path, absolute.
    let path: String
    let logger: Logger

    init(_ configuration: SQLiteLedgerConfiguration, logger: Logger) {
        self.configuration = configuration
        path = URL(fileURLWithPath: configuration.path).path
        self.logger = logger
    }

    func open() throws(LedgerError) -> (pool: DatabasePool, files: FileGuard) {
        Self.settings
        try checkPlace()
        do {
            let pool = try connected()
            let files = try FileGuard(database: path)
            try pool.writeWithoutTransaction { database in
                // GRDB lowers this to NORMAL when it turns on WAL, with which a power cut may take commits back.
                try database.execute(sql: "PRAGMA synchronous = FULL")
                try database.execute(sql: "PRAGMA cache_size = -\(Self.cacheKiB)")
                try database.execute(sql: "PRAGMA wal_autocheckpoint = \(Self.checkpointPages)")
                try checkPragmas(database)
                try checkStructure(database)
                try bringUpToDate(database)
            }
            return (pool, files)
        } catch {
            throw LedgerError(opening: error, at: path)
        }
    }

    /// Turning on write-ahead logging reads first and then writes in one transaction, and there SQLite does not wait for another
    /// process that writes (sqlite3_busy_handler): two workers that make the ledger at once.
    private func connected() throws -> DatabasePool {
        let deadline = ContinuousClock.now + configuration.busyTimeout
        while true {
            do {
                return try DatabasePool(path: path, configuration: databaseConfiguration)
            } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY && .now < deadline {
                Thread.sleep(forTimeInterval: Self.busyPause)
            }
        }
    }

    /// Once in a process and before SQLite is first used: by default it counts every allocation under one lock for all
    /// threads, for figures that nobody asks for. If something has used it before, it stays as it is, and nothing is lost.
    private static let settings: Void = { _ = grantor_sqlite_stop_counting_memory() }()

    /// Refuses what SQLite would otherwise create or report vaguely.
    private func checkPlace() throws(LedgerError) {
        var isFolder: ObjCBool = false
        let exists = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
        guard !isFolder.boolValue else { throw .unusable("\(path) is a folder") }
        guard !exists else { return }
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
            throw .unusable("there is no folder \(folder)")
        }
        guard configuration.migrate else { throw .schemaBehind(found: 0, known: Migration.latestVersion) }
    }

    private var databaseConfiguration: Configuration {
        var database = Configuration()
        database.label = "grantor.ledger"
        database.foreignKeysEnabled = true
        database.busyMode = .timeout(Double(configuration.busyTimeout.wholeMilliseconds) / 1000)
        database.maximumReaderCount = max(1, configuration.maxReaders)
        // Runs on every connection before anything is written, so that a file of somebody else's stays untouched.
        database.prepareDatabase { try Self.checkOwner($0) }
        return database
    }

    /// Lets ledgers and empty files pass.
    private static func checkOwner(_ database: Database) throws {
        let found = try integer(database, "PRAGMA application_id")
        guard found != applicationID else { return }
        let objects = try integer(database, "SELECT count(*) FROM sqlite_schema")
        let version = try integer(database, "PRAGMA user_version")
        guard found != 0 || objects != 0 || version != 0 else { return }
        // Another process may have made it a ledger between the looks. It does so in one transaction, so its mark is there now.
        guard try integer(database, "PRAGMA application_id") == applicationID else {
            throw ForeignDatabase()
        }
    }

    /// Reads back what was set: a setting that did not take is a promise that does not hold.
    private func checkPragmas(_ database: Database) throws {
        let mode = try String.fetchOne(database, sql: "PRAGMA journal_mode") ?? "unknown"
        guard mode == "wal" else {
            throw LedgerError.unusable("\(path): journal_mode is \(mode), not wal; is it on a local disk?")
        }
        let timeout = Int(configuration.busyTimeout.wholeMilliseconds)
        for (name, value) in [("synchronous", 2), ("foreign_keys", 1), ("busy_timeout", timeout)] {
            let found = try Self.integer(database, "PRAGMA \(name)")
            guard found == value else { throw LedgerError.damaged("\(path): \(name) is \(found), not \(value)") }
        }
    }

    private func checkStructure(_ database: Database) throws {
        let bytes = try Int64(Self.integer(database, "PRAGMA page_count") * Self.integer(database, "PRAGMA page_size"))
        guard bytes <= configuration.maxCheckedBytes else {
            logger.notice(
                "The ledger is too large to be checked while opening", metadata: ["bytes": "\(bytes)"])
            return
        }
        let finding = try String.fetchOne(database, sql: "PRAGMA quick_check(1)") ?? "no answer"
        guard finding == "ok" else { throw LedgerError.damaged("\(path): quick_check: \(finding)") }
    }

    private func bringUpToDate(_ database: Database) throws {
        let found = try Self.integer(database, "PRAGMA user_version")
        guard found <= Migration.latestVersion else {
            throw LedgerError.schemaAhead(found: found, known: Migration.latestVersion)
        }
        guard found == Migration.latestVersion || configuration.migrate else {
            throw LedgerError.schemaBehind(found: found, known: Migration.latestVersion)
        }
        for migration in Migration.all where migration.version > found {
            try apply(migration, database)
        }
    }

    private func apply(_ migration: Migration, _ database: Database) throws {
        try database.inTransaction(.immediate) {
            // Another process may have been quicker; the version is read again under the lock.
            guard try Self.integer(database, "PRAGMA user_version") < migration.version else { return .rollback }
            try database.execute(sql: migration.sql)
            try database.execute(sql: "PRAGMA application_id = \(Self.applicationID)")
            try database.execute(sql: "PRAGMA user_version = \(migration.version)")
            return .commit
        }
        logger.notice("The ledger's schema was brought up to date", metadata: ["version": "\(migration.version)"])
    }

    private static func integer(_ database: Database, _ sql: String) throws -> Int {
        try Int.fetchOne(database, sql: sql) ?? 0
    }
}
