import CSQLite
public import Contract
import Glibc
import Ledger

/// Where an embedded ledger is and how it is opened.
public struct SQLiteLedgerConfiguration: Sendable {
    /// The database file, on a local disk. Relative paths start at the working directory of the moment of opening.
    public var path: String
    /// Milliseconds that a statement waits for another connection's write before the call is `.unavailable`.
    public var busyTimeout: Int
    /// The ledger's clock, by which rows are due and leases end: the host's wall clock, for all that open the file.
    public var clock: @Sendable () -> Timestamp
    /// Most time of a transaction; nil for any. It is looked at while statements run.
    var transactionLimit: Duration?

    /// A ledger with the settings that suit a worker.
    public init(path: String, busyTimeout: Int = 5_000, clock: @escaping @Sendable () -> Timestamp = { .now }) {
        self.path = path
        self.busyTimeout = busyTimeout
        self.clock = clock
    }

    /// The same ledger for reading alone, with a limit for each wait.
    public func reading(within limit: Duration) -> SQLiteLedgerConfiguration {
        var configuration = self
        configuration.busyTimeout = min(busyTimeout, Int(clamping: Int64(limit / .milliseconds(1))))
        configuration.transactionLimit = limit
        return configuration
    }
}

/// Opens a ledger's file and makes sure of everything that its promises rest on.
struct SQLiteOpening {
    /// Marks a SQLite file as a ledger: "GRN2", because the first build's files, marked by "GRNT", cannot be upgraded.
    static let applicationID: Int64 = 0x4752_4E32

    /// Page cache of a connection, in KiB. Ids arrive in no order, so each batch touches pages all over the indexes. A
    /// larger cache saves time, but its memory grows with the ledger.
    private static let cacheKiB = 8_192
    /// Largest file whose structure a migration checks: the check reads all of it.
    private static let maxCheckedBytes: Int64 = 1 << 30

    let configuration: SQLiteLedgerConfiguration
    var migrations = Migrations.sqlite

    /// Whether a file is there.
    /// - Throws: `.unusable` where this user can have no ledger: SQLite has one error for all of it. `.unavailable` if
    ///   the file system does not say.
    func isThere() throws(LedgerError) -> Bool {
        let path = configuration.path
        var status = stat()
        guard stat(path, &status) == 0 else {
            let code = errno
            let words = "\(path) cannot be looked up: \(String(cString: strerror(code)))"
            switch code {
            case ENOENT, ENOTDIR: break
            case EACCES: throw .unusable(detail: "this user may not enter the folder of \(path)")
            case ELOOP, ENAMETOOLONG: throw .unusable(detail: words)
            default: throw .unavailable(detail: words)
            }
            guard lstat(path, &status) != 0 else {
                throw .unusable(detail: "\(path) is a link to a file that is not there")
            }
            let folder = path.lastIndex(of: "/").map { path[...$0] } ?? "."
            guard access(String(folder), F_OK) == 0 else {
                throw .unusable(detail: "there is no folder for \(path); make it for the worker's user")
            }
            guard access(String(folder), W_OK) == 0 else {
                throw .unusable(detail: "this user may not make \(path)")
            }
            return false
        }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .unusable(detail: "\(path) is not a file") }
        guard access(path, R_OK | W_OK) == 0 else {
            throw .unusable(detail: "this user must be able to read and to write \(path)")
        }
        return true
    }

    /// Refuses a file whose write-ahead log the next worker may seek at another path than the former one.
    private func checkNames() throws(StoreError) {
        var status = stat()
        guard stat(configuration.path, &status) == 0 else { return }
        guard status.st_nlink <= 1 else {
            throw .contradiction("the file has \(status.st_nlink) names (hard links), and a log beside each; keep one")
        }
        guard grantor_is_mounted_alone(configuration.path) == 0 else {
            throw .contradiction("the file is mounted without its folder, and its log lies beside it; mount the folder")
        }
    }

    /// Takes the right to be the file's one worker, for the rest of the process's life.
    /// - Parameter creating: Whether an empty file is made where there is none.
    /// - Returns: Words for the process that has it; nil if it is this one, or if there is no file.
    func claim(creating: Bool) throws(LedgerError) -> String? {
        guard try isThere() || creating else { return nil }
        return try WorkerLock.take(path: configuration.path)
    }

    /// Opens a ledger that is there.
    func open() throws(LedgerError) -> Database {
        guard try isThere() else {
            throw .unusable(
                detail: "there is no ledger at \(configuration.path): \(StoreError.restoring), and only a first one is "
                    + "made, by grantor migrate")
        }
        do throws(StoreError) {
            let database = try connected(creating: false)
            try checkVersion(database)
            database.files = try database.currentFiles()
            return database
        } catch {
            throw opening(error)
        }
    }

    /// Makes a ledger, or brings one up to date. May be called again. Only a process that no worker works beside
    /// changes anything. Each step is a transaction: whatever ends it leaves the ledger at the version before.
    /// - Returns: The versions of the schema before and after; 0 where there was none.
    func migrate() throws(LedgerError) -> (from: Int, to: Int) {
        if let fault = migrations.fault { throw .unusable(detail: fault) }
        let holder = try claim(creating: true)
        do throws(StoreError) {
            let database = try connected(creating: true)
            try checkStructure(database)
            let from = try version(of: database)
            while let step = migrations.next(after: try version(of: database)) {
                if let holder { throw .taken(by: holder) }
                do throws(StoreError) {
                    try database.write { () throws(StoreError) in try carryOut(step, in: database) }
                } catch {
                    throw error.of(step)
                }
            }
            try checkVersion(database)
            return (from, try version(of: database))
        } catch {
            throw opening(error)
        }
    }

    /// Carries a step out, unless another connection has done so. A transaction with the write lock is open.
    func carryOut(_ step: Migration, in database: Database) throws(StoreError) {
        guard try version(of: database) < step.version else { return }
        try database.run(step.sql)
        if step.version == 1 {
            try database.statement("INSERT INTO ledger (only, id) VALUES (1, ?)").run { $0.text(LedgerID.random()) }
            try database.run("PRAGMA application_id = \(Self.applicationID)")
        }
        try database.run("PRAGMA user_version = \(step.version)")
    }

    /// A connection in write-ahead mode that syncs every commit. Refuses another program's file before it writes
    /// anything.
    private func connected(creating: Bool) throws(StoreError) -> Database {
        try checkNames()
        let database = try Database(
            path: configuration.path, creating: creating, busyTimeout: configuration.busyTimeout)
        try checkOwner(database)
        let mode = try database.text("PRAGMA journal_mode = WAL") ?? "unknown"
        guard mode == "wal" else {
            throw .contradiction("journal_mode is \(mode), not wal; is it on a local disk?")
        }
        try database.run("PRAGMA synchronous = FULL")
        try database.run("PRAGMA cache_size = -\(Self.cacheKiB)")
        if let limit = configuration.transactionLimit { database.limitTransactions(to: limit) }
        // Read back: a setting that did not take is a promise that does not hold.
        guard try database.number("PRAGMA synchronous") == 2 else {
            throw .contradiction("synchronous is not FULL: a power cut could take commits back")
        }
        return database
    }

    private func checkStructure(_ database: Database) throws(StoreError) {
        let bytes = try database.number("PRAGMA page_count") * database.number("PRAGMA page_size")
        guard bytes <= Self.maxCheckedBytes else { return }
        guard try database.text("PRAGMA quick_check(1)") == "ok" else {
            throw .contradiction("the file is damaged; \(StoreError.restoring)")
        }
    }

    /// Lets ledgers and empty files pass.
    private func checkOwner(_ database: Database) throws(StoreError) {
        guard try database.number("PRAGMA application_id") != Self.applicationID else { return }
        let objects = try database.number("SELECT count(*) FROM sqlite_schema")
        let version = try database.number("PRAGMA user_version")
        let mark = try database.number("PRAGMA application_id")
        // Another process may have made it a ledger between the looks. It does so in one transaction, so its mark is
        // there now.
        guard objects == 0 && version == 0 && mark == 0 || mark == Self.applicationID else {
            throw .contradiction("a SQLite database, but not a ledger")
        }
    }

    private func checkVersion(_ database: Database) throws(StoreError) {
        let found = try version(of: database)
        if let refusal = SchemaVersion.refusal(of: found, by: migrations.newest) { throw .contradiction(refusal) }
    }

    /// The schema's version; 0 where there is no ledger.
    private func version(of database: Database) throws(StoreError) -> Int {
        Int(try database.number("PRAGMA user_version"))
    }

    /// The meaning of an error at opening. A person has to mend some faults then that an open ledger waits for.
    private func opening(_ error: StoreError) -> LedgerError {
        if case .sqlite(let code, let message) = error,
            [SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH, SQLITE_READONLY, SQLITE_NOTADB].contains(code & 0xff)
        {
            let remedy =
                code & 0xff == SQLITE_NOTADB
                ? "name another file; \(StoreError.restoring)"
                : "this user must be able to write the file, and to make files beside it"
            return .unusable(detail: "\(configuration.path): \(message) (SQLite \(code)); \(remedy)")
        }
        return error.error(at: configuration.path)
    }
}

extension StoreError {
    /// The failure of a step, with the ledger's name for people.
    fileprivate func of(_ step: Migration) -> StoreError {
        guard case .sqlite(let code, let message) = self else { return self }
        return .sqlite(code: code, message: "step \(step.version) (\(step.name)): \(message)")
    }
}
