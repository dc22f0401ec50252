import CSQLite
import Contract
import Glibc
import Ledger

/// A prepared statement of a ``Database``'s cache. After a run it holds nothing of its values, so the cache holds no
/// evidence.
final class Statement {
    private let pointer: OpaquePointer
    private let connection: OpaquePointer
    /// Kept from run to run, so that its memory is found once.
    private var binder = Binder()

    /// - Parameter connection: Outlives the statement: the database finalizes it before it closes.
    init(_ pointer: OpaquePointer, of connection: OpaquePointer) {
        self.pointer = pointer
        self.connection = connection
    }

    /// Called once, by the database.
    func finalize() { sqlite3_finalize(pointer) }

    /// Runs a statement that returns no rows.
    /// - Returns: How many rows it inserted, updated or deleted.
    @discardableResult
    func run(_ bind: (inout Binder) -> Void) throws(StoreError) -> Int {
        try execute(bind) { (_) throws(StoreError) in true }
        return Int(sqlite3_changes(connection))
    }

    /// Runs a query and reads its rows in order.
    /// - Parameter isEnough: Asked after each row; the rest is left once it is true.
    func rows<Row>(
        _ bind: (inout Binder) -> Void, until isEnough: (Row) -> Bool = { _ in false },
        read: (Columns) throws(StoreError) -> Row
    ) throws(StoreError) -> [Row] {
        var rows: [Row] = []
        try execute(bind) { (columns) throws(StoreError) in
            let row = try read(columns)
            rows.append(row)
            return !isEnough(row)
        }
        return rows
    }

    /// Runs a query and hands over its rows in order.
    func each(_ bind: (inout Binder) -> Void, _ row: (Columns) -> Void) throws(StoreError) {
        try execute(bind) { (columns) throws(StoreError) in
            row(columns)
            return true
        }
    }

    func hasRow(_ bind: (inout Binder) -> Void) throws(StoreError) -> Bool {
        var found = false
        try execute(bind) { (_) throws(StoreError) in
            found = true
            return false
        }
        return found
    }

    /// The first row of a query, if there is one.
    func first<Row>(
        _ bind: (inout Binder) -> Void, read: (Columns) throws(StoreError) -> Row
    ) throws(StoreError) -> Row? {
        try rows(bind, until: { _ in true }, read: read).first
    }

    /// The number in the first column of a query's first row; 0 without a row.
    func count(_ bind: (inout Binder) -> Void = { _ in }) throws(StoreError) -> Int {
        try first(bind) { $0.int(0) } ?? 0
    }

    /// - Parameter row: Says whether another row is wanted.
    private func execute(_ bind: (inout Binder) -> Void, row: (Columns) throws(StoreError) -> Bool) throws(StoreError) {
        binder.removeAll()
        bind(&binder)
        // Bound and read through pointers that are good only within the closure, which cannot throw typed errors out.
        let outcome: Result<Void, StoreError> = binder.withBound(to: pointer) { code in
            guard code == SQLITE_OK else { return .failure(failure(code)) }
            while true {
                switch sqlite3_step(pointer) {
                case SQLITE_ROW:
                    do throws(StoreError) {
                        guard try row(Columns(statement: pointer)) else { return .success(()) }
                    } catch {
                        return .failure(error)
                    }
                case SQLITE_DONE: return .success(())
                case let code: return .failure(failure(code))
                }
            }
        }
        try outcome.get()
    }

    private func failure(_ code: CInt) -> StoreError {
        StoreError(code, of: connection)
    }
}

/// Gathers a statement's values, left to right.
///
/// All bytes stand in one buffer, which SQLite reads without a copy. Given one by one, each would be copied into
/// SQLite's own memory, which costs as much as the insertion of a row.
struct Binder: RowWriter {
    private enum Value {
        case null
        case integer(Int64)
        case text(Range<Int>)
        case blob(Range<Int>)
    }

    private var values: [Value] = []
    /// Never empty, so that an empty text has an address: a text without one would be NULL.
    private var bytes: [UInt8] = [0]

    fileprivate mutating func removeAll() {
        values.removeAll(keepingCapacity: true)
        bytes.removeSubrange(1...)
    }

    mutating func integer(_ value: Int64?) { values.append(value.map { .integer($0) } ?? .null) }

    mutating func text(_ value: String?) {
        guard let value else { return values.append(.null) }
        let start = bytes.count
        bytes.append(contentsOf: value.utf8)
        values.append(.text(start..<bytes.count))
    }

    mutating func blob(_ value: some Collection<UInt8>) {
        let start = bytes.count
        bytes.append(contentsOf: value)
        values.append(.blob(start..<bytes.count))
    }

    mutating func null() { values.append(.null) }

    /// Runs a block while the statement has the values.
    /// - Parameter body: Gets SQLite's answer; after the first failure no more values are bound.
    fileprivate func withBound<Outcome>(to statement: OpaquePointer, _ body: (CInt) -> Outcome) -> Outcome {
        bytes.withUnsafeBytes { buffer in
            // The statement is reset, because it would otherwise keep its transaction open. It also releases the buffer
            // while the buffer's address is valid. Both calls only repeat the error of the step, which was reported.
            defer {
                sqlite3_reset(statement)
                sqlite3_clear_bindings(statement)
            }
            var code = SQLITE_OK
            var index: CInt = 0
            for value in values where code == SQLITE_OK {
                index += 1
                code = Self.bind(value, index, of: statement, in: buffer)
            }
            return body(code)
        }
    }

    /// Without a destructor (`SQLITE_STATIC`) SQLite takes the bytes to stay where they are.
    private static func bind(
        _ value: Value, _ index: CInt, of statement: OpaquePointer, in buffer: UnsafeRawBufferPointer
    ) -> CInt {
        switch value {
        case .null: return sqlite3_bind_null(statement, index)
        case .integer(let number): return sqlite3_bind_int64(statement, index, number)
        case .text(let range):
            let start = buffer.baseAddress?.advanced(by: range.lowerBound).assumingMemoryBound(to: CChar.self)
            return sqlite3_bind_text(statement, index, start, CInt(clamping: range.count), nil)
        case .blob(let range):
            let start = buffer.baseAddress?.advanced(by: range.lowerBound)
            return sqlite3_bind_blob(statement, index, start, CInt(clamping: range.count), nil)
        }
    }
}

/// The current row of a query.
struct Columns: RowReader {
    private let statement: OpaquePointer

    fileprivate init(statement: OpaquePointer) { self.statement = statement }
    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(statement, column) == SQLITE_NULL }
    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }

    func optionalText(_ column: Int32) -> String? {
        // SQLite owns the bytes until the next step; the order of these two calls is its rule.
        guard let start = sqlite3_column_text(statement, column) else { return nil }
        let count = Int(sqlite3_column_bytes(statement, column))
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    func blob(_ column: Int32) -> [UInt8] {
        guard let start = sqlite3_column_blob(statement, column) else { return [] }
        return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column))))
    }
}

extension WrittenColumns {
    /// A parameter for each column.
    var values: String { Array(repeating: "?", count: names.count).joined(separator: ", ") }

    /// An insertion of one row; an existing one stays.
    func insertion(into table: String) -> String {
        "INSERT INTO \(table) (\(list)) VALUES (\(values)) ON CONFLICT DO NOTHING"
    }
}

/// An error within a call, before it is known whose fault it is.
enum StoreError: Error {
    /// An extended result code of SQLite's (https://www.sqlite.org/rescode.html) and its own words.
    case sqlite(code: CInt, message: String)
    /// The file was deleted or replaced under its user.
    case replaced(String)
    /// Another process has the right to work for the file, and would have to end first.
    case taken(by: String)
    /// A row that this program did not write so.
    case contradiction(String)

    /// Whether the database refuses a value: the same transaction without it can succeed.
    var isForData: Bool {
        guard case .sqlite(let code, _) = self else { return false }
        return switch code & 0xff {
        case SQLITE_CONSTRAINT, SQLITE_TOOBIG, SQLITE_MISMATCH, SQLITE_RANGE: true
        default: false
        }
    }

    /// SQLite's words about a value that it refuses; they name columns and hold no values.
    var reason: String {
        guard case .sqlite(_, let message) = self else { return "" }
        return message
    }

    /// The error of a connection's latest call. A file cannot be opened if the process or the system has too many open.
    /// That is no file that a person must mend: it counts as want of memory. Nor is a full disk, on which the log's file
    /// cannot be made.
    init(_ code: Int32, of connection: OpaquePointer) {
        let message = String(cString: sqlite3_errmsg(connection))
        let cause = sqlite3_system_errno(connection)
        let passing = [
            EMFILE: SQLITE_NOMEM, ENFILE: SQLITE_NOMEM, ENOMEM: SQLITE_NOMEM, ENOSPC: SQLITE_FULL, EDQUOT: SQLITE_FULL,
        ]
        guard code & 0xff == SQLITE_CANTOPEN, let meaning = passing[cause] else {
            self = .sqlite(code: code, message: message)
            return
        }
        self = .sqlite(code: meaning, message: "\(message): \(String(cString: strerror(cause)))")
    }

    /// The error for the caller. Everything that may pass is `.unavailable`, by itself or because a person mends disk
    /// or rights under the worker. The text has no statements and values.
    func error(at path: String) -> LedgerError {
        switch self {
        case .replaced(let detail): return .disconnected(detail: detail)
        case .taken(let holder):
            return .unavailable(detail: "\(holder) has \(path); the schema changes while no worker runs")
        case .contradiction(let detail): return .unusable(detail: "\(path): \(detail)")
        case .sqlite(let code, let message):
            let text = "\(path): \(message) (SQLite \(code))"
            if code == Self.moved { return .disconnected(detail: text) }
            switch code & 0xff {
            case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_FULL, SQLITE_IOERR, SQLITE_READONLY, SQLITE_NOMEM,
                SQLITE_INTERRUPT, SQLITE_PROTOCOL, SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH:
                return .unavailable(detail: text)
            default:
                // CORRUPT, NOTADB, and errors that only a foreign schema or a fault of this program can cause.
                let isDamaged = [SQLITE_CORRUPT, SQLITE_NOTADB].contains(code & 0xff)
                return .unusable(detail: isDamaged ? "\(text); \(Self.restoring)" : text)
            }
        }
    }

    /// A new ledger beside a working group has forgotten all grants.
    static let restoring = "if there was one, restore its backup (docs/guarantees.md, After a backup)"

    /// `SQLITE_READONLY_DBMOVED`, which is a macro of two parts that Swift does not see.
    private static let moved = SQLITE_READONLY | 4 << 8
}
