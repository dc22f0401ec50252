import CSQLite
import Glibc
import Ledger
import Scheduling
import Synchronization

/// One connection to a SQLite file: the only owner of its handle, which it closes once. For one thread at a time.
final class Database {
    let path: String
    let handle: OpaquePointer
    private(set) var statements: [String: Statement] = [:]
    /// How long a transaction may take, and when the present one has to end.
    private var transactionEnd: (limit: Duration, at: UnsafeMutablePointer<Instant>)?
    /// Pages in the write-ahead log after the connection's latest commit.
    private let logPages: UnsafeMutablePointer<CInt>
    /// Milliseconds that a statement waits for another connection's write.
    private let busyTimeout: CInt
    /// Pages in the write-ahead log before they are moved to the database. A page that several batches touch is then
    /// moved once.
    static let mostLogPages: CInt = 8_000
    /// Pages at which the next checkpoint is tried.
    private var checkpointAt = mostLogPages
    /// Set once the database is a ledger: from then on every transaction ends with a look for its files.
    var files: FileGuard?

    /// - Parameters:
    ///   - creating: Whether a file is made where there is none.
    ///   - busyTimeout: Milliseconds that a statement waits for another connection's write.
    init(path: String, creating: Bool, busyTimeout: Int) throws(StoreError) {
        Self.settings
        self.path = path
        // No mutex: a connection has one thread.
        let flags =
            SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | (creating ? SQLITE_OPEN_CREATE : 0)
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(path, &opened, flags, nil)
        guard code == SQLITE_OK, let opened else {
            // A handle comes with most errors, too.
            let error = opened.map { StoreError(code, of: $0) } ?? .sqlite(code: code, message: "out of memory")
            sqlite3_close(opened)
            throw error
        }
        handle = opened
        self.busyTimeout = CInt(clamping: busyTimeout)
        sqlite3_busy_timeout(handle, self.busyTimeout)
        logPages = .allocate(capacity: 1)
        logPages.initialize(to: 0)
        // It replaces SQLite's own, which would make checkpoints beside other connections' writes.
        sqlite3_wal_hook(
            handle,
            { pages, _, _, count in
                pages?.storeBytes(of: count, as: CInt.self)
                return SQLITE_OK
            }, logPages)
    }

    /// Ends each transaction that takes longer with `.sqlite(SQLITE_INTERRUPT)`. It is looked at while statements run.
    func limitTransactions(to limit: Duration) {
        let end = UnsafeMutablePointer<Instant>.allocate(capacity: 1)
        end.initialize(to: .now + limit)
        transactionEnd = (limit, end)
        // Some thousand instructions are well below a millisecond.
        sqlite3_progress_handler(
            handle, 4_000,
            { end in
                let end = end?.load(as: Instant.self)
                return end.map { Instant.now > $0 } ?? false ? 1 : 0
            }, end)
    }

    deinit {
        // Statements first: `sqlite3_close` refuses as long as one is left, and would leak the handle.
        for statement in statements.values { statement.finalize() }
        if let files { files.release { sqlite3_close(handle) } } else { sqlite3_close(handle) }
        logPages.deallocate()
        transactionEnd?.at.deallocate()
    }

    /// Stops SQLite from counting every allocation under one lock for all threads; nobody needs the figures. It works
    /// once in a process, before SQLite's first use. Later it has no effect and does no harm.
    private static let settings: Void = { _ = grantor_sqlite_stop_counting_memory() }()

    /// A statement of the connection's cache, prepared at its first use. Preparing costs three times as much as a run.
    func statement(_ sql: String) throws(StoreError) -> Statement {
        if let known = statements[sql] { return known }
        var pointer: OpaquePointer?
        let code = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &pointer, nil)
        guard code == SQLITE_OK, let pointer else { throw failure(code) }
        let statement = Statement(pointer, of: handle)
        statements[sql] = statement
        return statement
    }

    /// Runs statements without values or rows, such as a schema.
    func run(_ sql: String) throws(StoreError) {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw failure(code) }
    }

    /// The number in the first column of a query's first row; 0 without a row.
    func number(_ sql: String) throws(StoreError) -> Int64 { try statement(sql).first({ _ in }) { $0.integer(0) } ?? 0 }
    func text(_ sql: String) throws(StoreError) -> String? { try statement(sql).first({ _ in }) { $0.text(0) } }

    func identity() throws(StoreError) -> String {
        guard let id = try text("SELECT id FROM ledger") else { throw .contradiction("the ledger has no id") }
        return id
    }

    /// Its files as they are now.
    func currentFiles() throws(StoreError) -> FileGuard {
        try FileGuard(path: path, file: sqlite3_db_filename(handle, "main").map { String(cString: $0) } ?? path)
    }

    /// A number for a lease that this ledger has not given before.
    func nextLease() throws(StoreError) -> Int64 {
        try number("UPDATE ledger SET last_lease = last_lease + 1 RETURNING last_lease")
    }

    /// A page of a query's rows, the newest first by the sequence of its table. Rows that are read as nil are left out.
    /// - Parameters:
    ///   - filters: Conditions, and the value of the parameter in each. One without a value is not part of the
    ///     statement, so that the others find their indexes.
    ///   - sequence: The column of the sequence.
    func page<Row>(
        _ selection: String, of table: String, before: Int64?, limit: Int, _ filters: [(String, value: String?)],
        sequence: CInt, read: (Columns) throws(StoreError) -> Row?
    ) throws(StoreError) -> [Row] {
        let filters = filters.filter { $0.value != nil }
        var conditions = ["\(table).sequence < ?1"]
        for (index, filter) in filters.enumerated() {
            conditions.append(filter.0.replacing("?", with: "?\(index + 3)"))
        }
        let sql = """
            \(selection) WHERE \(conditions.joined(separator: " AND ")) ORDER BY \(table).sequence DESC LIMIT ?2
            """
        var rows: [Row] = []
        var before = before ?? .max
        // A page that is not full is the last one, so only the left out rows follow.
        while rows.count < limit {
            let asked = limit - rows.count
            let found = try statement(sql).rows {
                $0.integer(before)
                $0.integer(asked)
                for filter in filters { $0.text(filter.value) }
            } read: { (row) throws(StoreError) in
                (row.integer(sequence), try read(row))
            }
            rows += found.compactMap(\.1)
            guard found.count == asked, let last = found.last?.0 else { break }
            before = last
        }
        return rows
    }

    /// Runs a block in one transaction that has the write lock from its start, and is on stable storage when this
    /// returns.
    /// - Parameter keeps: Whether the block's result is worth its commit; else nothing of the transaction stays.
    func write<Value>(
        keeps: (Value) -> Bool = { _ in true }, _ body: () throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        let value = try transaction("BEGIN IMMEDIATE", keeps: keeps, body)
        if logPages.pointee >= checkpointAt {
            let isMoved = checkpoint()
            checkpointAt = isMoved ? Self.mostLogPages : logPages.pointee + Self.mostLogPages / 8
            // The hook is not called for a transaction that changes nothing: without this it would move pages again.
            if isMoved { logPages.pointee = 0 }
        }
        return value
    }

    /// Moves the log's pages into the database, under the lock of writers.
    ///
    /// Where another connection has that lock, SQLite would go on without it (`PASSIVE`). A write beside can then make
    /// it skip pages of commits for good: the WAL-reset bug of all versions before 3.51.3 (sqlite.org/wal.html). So a
    /// checkpoint that would have to wait gives up instead. A commit some pages later tries again: a growing log does
    /// no harm, and each try goes through all of it.
    /// - Returns: Whether all pages were moved.
    @discardableResult
    func checkpoint() -> Bool {
        let handle = UnsafeMutableRawPointer(handle)
        sqlite3_busy_handler(
            self.handle,
            { connection, _ in
                sqlite3_interrupt(OpaquePointer(connection))
                return 0
            }, handle)
        let code = sqlite3_wal_checkpoint_v2(self.handle, nil, SQLITE_CHECKPOINT_FULL, nil, nil)
        sqlite3_busy_timeout(self.handle, busyTimeout)
        return code == SQLITE_OK
    }

    /// Runs a block on one snapshot; works while another process writes.
    func read<Value>(_ body: () throws(StoreError) -> Value) throws(StoreError) -> Value {
        try transaction("BEGIN", body)
    }

    private func transaction<Value>(
        _ begin: String, keeps: (Value) -> Bool = { _ in true }, _ body: () throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        if let transactionEnd { transactionEnd.at.pointee = .now + transactionEnd.limit }
        try step(begin)
        do {
            let value = try body()
            try step(keeps(value) ? "COMMIT" : "ROLLBACK")
            try files?.check()
            return value
        } catch {
            // FULL, IOERR and NOMEM may have rolled back already.
            if sqlite3_get_autocommit(handle) == 0 { try? step("ROLLBACK") }
            throw error
        }
    }

    private func step(_ sql: String) throws(StoreError) { try statement(sql).run { _ in } }

    private func failure(_ code: CInt) -> StoreError {
        StoreError(code, of: handle)
    }
}

/// The file that a path leads to, so that one deleted or replaced under its user is noticed.
///
/// A database file can be unlinked while it is open. SQLite then writes on to a file that nobody will read. The check
/// uses `stat` alone. Opening and closing the file beside SQLite would end SQLite's locks on it ("How To Corrupt An
/// SQLite Database File", section 2.2).
struct FileIdentity: Hashable {
    private let device: UInt64
    /// The number of its inode.
    let node: UInt64

    /// - Throws: `.replaced` if nothing is there, `.sqlite` if the file system does not say.
    init(path: String) throws(StoreError) {
        var status = stat()
        guard stat(path, &status) == 0 else {
            let code = errno
            guard code == ENOENT || code == ENOTDIR else {
                throw .sqlite(code: SQLITE_CANTOPEN, message: "cannot be looked up: \(String(cString: strerror(code)))")
            }
            throw .replaced("\(path) is gone")
        }
        self.init(status)
    }

    init(_ status: stat) {
        device = UInt64(status.st_dev)
        node = UInt64(status.st_ino)
    }
}

/// The files of an open database that must stay where they are.
struct FileGuard {
    /// By each database that this process has open: its other files, and how many connections use them.
    private static let inUse = Mutex<[FileIdentity: (others: [FileIdentity], connections: Int)]>([:])

    private let files: [(path: String, identity: FileIdentity)]

    /// Remembers the database, its write-ahead log and that log's index as they are now, for one open connection. A
    /// process that opens the database without the index makes another one, and neither process sees the other's locks
    /// and writes.
    /// - Parameters:
    ///   - path: The path by which the database was opened, which may be a link.
    ///   - file: The file to which the path leads: SQLite keeps the log and its index beside that.
    /// - Throws: `.contradiction` where the process has connections that use another log or index. Within a process
    ///   SQLite has one index for all of them. A new connection would write its log by the index of the former one, and
    ///   the next checkpoint would damage the database.
    init(path: String, file: String) throws(StoreError) {
        let database = try FileIdentity(path: path)
        var others: [(path: String, identity: FileIdentity)] = []
        var missing: StoreError?
        for path in [file + "-wal", file + "-shm"] {
            do throws(StoreError) {
                others.append((path, try FileIdentity(path: path)))
            } catch {
                guard case .replaced = error else { throw error }
                missing = error
            }
        }
        files = [(path, database)] + others
        let identities = others.map(\.identity)
        try Self.inUse.withLock { (inUse) throws(StoreError) in
            let use = inUse[database]
            guard use.map({ $0.others == identities }) ?? true else {
                throw .contradiction(
                    "its -wal or -shm file was deleted or replaced, and this process has the former one open; a new "
                        + "start reads the ledger anew")
            }
            if let missing { throw missing }
            inUse[database] = (identities, (use?.connections ?? 0) + 1)
        }
    }

    /// Forgets the connection and closes it. The last one takes the log away with it, so none may be opened in between.
    func release(_ close: () -> Void) {
        Self.inUse.withLock { inUse in
            close()
            let database = files[0].identity
            guard let use = inUse[database] else { return }
            inUse[database] = use.connections > 1 ? (use.others, use.connections - 1) : nil
        }
    }

    /// Throws `.replaced` if one of the files was deleted or replaced.
    func check() throws(StoreError) {
        for file in files {
            guard try FileIdentity(path: file.path) == file.identity else {
                throw .replaced("\(file.path) was replaced while it was open")
            }
        }
    }
}
