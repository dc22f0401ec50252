import CSQLite

/// One connection to a SQLite file: the only owner of its handle, which it closes once. For one thread at a time.
final class Database {
    let path: String
    private let handle: OpaquePointer
    private var statements: [String: Statement] = [:]
    /// Set once the database is a ledger: from then on every transaction ends with a look for its files.
    var files: FileGuard?

    /// - Parameters:
    ///   - creating: Whether a file is made where there is none.
    ///   - busyTimeout: Milliseconds that a statement waits for another process's write.
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
            let message = opened.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
            sqlite3_close(opened)
            throw .sqlite(code: code, message: message)
        }
        handle = opened
        sqlite3_busy_timeout(handle, CInt(clamping: busyTimeout))
    }

    deinit {
        // Statements first: `sqlite3_close` refuses as long as one is left, and would leak the handle.
        for statement in statements.values { statement.finalize() }
        sqlite3_close(handle)
    }

    /// Once in a process and before SQLite is first used: by default it counts every allocation under one lock for all threads,
    /// for figures that nobody asks for. If something has used it before, it stays as it is, and nothing is lost.
    private static let settings: Void = { _ = grantor_sqlite_stop_counting_memory() }()

    /// A statement of the connection's cache, prepared at its first use. Preparing costs three times what a run does.
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
    func number(_ sql: String) throws(StoreError) -> Int64 {
        try statement(sql).first({ _ in }) { $0.integer(0) } ?? 0
    }

    func text(_ sql: String) throws(StoreError) -> String? {
        try statement(sql).first({ _ in }) { $0.text(0) }
    }

    /// Has SQLite call back at each statement (sqlite3_trace_v2).
    ///
    /// - Parameter context: Given to the callback; it must live until the trace ends.
    func trace(
        _ events: UInt32, context: UnsafeMutableRawPointer?,
        _ callback: (
            @convention(c) (
                UInt32, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?
            ) -> CInt
        )?
    ) {
        sqlite3_trace_v2(handle, events, callback, context)
    }

    /// Runs a block in one transaction that has the write lock from its start, and is on stable storage when this returns.
    func write<Value>(_ body: () throws(StoreError) -> Value) throws(StoreError) -> Value {
        try transaction("BEGIN IMMEDIATE", body)
    }

    /// Runs a block on one snapshot; works while another process writes.
    func read<Value>(_ body: () throws(StoreError) -> Value) throws(StoreError) -> Value {
        try transaction("BEGIN", body)
    }

    private func transaction<Value>(
        _ begin: String, _ body: () throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        try step(begin)
        do {
            let value = try body()
            try step("COMMIT")
            try files?.check()
            return value
        } catch {
            // FULL, IOERR and NOMEM may have rolled back already.
            if sqlite3_get_autocommit(handle) == 0 { try? step("ROLLBACK") }
            throw error
        }
    }

    private func step(_ sql: String) throws(StoreError) {
        try statement(sql).run { _ in }
    }

    private func failure(_ code: CInt) -> StoreError {
        .sqlite(code: code, message: String(cString: sqlite3_errmsg(handle)))
    }
}
