import GRDB
import GRDBSQLite
import Purchases

/// A statement of GRDB's cache, bound and stepped through SQLite's own interface.
///
/// GRDB binds and reads text up to its first NUL, which would make two user ids one, and boxes every value, which
/// costs more than the insert itself. The cache keeps the statement and finalizes it with its connection, so it must
/// not outlive the block of the database access it was made in. After a run the statement holds nothing of its values, so
/// the cache holds no evidence.
struct PreparedStatement {
    private let statement: Statement
    private let pointer: SQLiteStatement
    private let connection: SQLiteConnection?
    private let values = Values()

    /// Kept from run to run, so that its memory is found once.
    private final class Values {
        var binder = Binder()
    }

    init(_ sql: String, on database: Database) throws {
        statement = try database.cachedStatement(sql: sql)
        pointer = statement.sqliteStatement
        connection = database.sqliteConnection
    }

    /// Runs a statement that returns no rows.
    ///
    /// - Returns: how many rows it inserted or updated.
    @discardableResult
    func run(_ bind: (inout Binder) -> Void) throws -> Int {
        try execute(bind) { _ in true }
        return Int(sqlite3_changes(connection))
    }

    /// Runs a query and reads its rows in order.
    ///
    /// - Parameter isEnough: asked after each row; the rest is left once it is true.
    func rows<Row>(
        _ bind: (inout Binder) -> Void, until isEnough: (Row) -> Bool = { _ in false },
        read: (Columns) throws -> Row
    ) throws -> [Row] {
        var rows: [Row] = []
        try execute(bind) { columns in
            let row = try read(columns)
            rows.append(row)
            return !isEnough(row)
        }
        return rows
    }

    /// - Parameter row: says whether another row is wanted.
    private func execute(_ bind: (inout Binder) -> Void, row: (Columns) throws -> Bool) throws {
        values.binder.removeAll()
        bind(&values.binder)
        try values.binder.withBound(to: pointer) { code in
            guard code == SQLITE_OK else { throw error(code) }
            while true {
                switch sqlite3_step(pointer) {
                case SQLITE_ROW: guard try row(Columns(statement: pointer)) else { return }
                case SQLITE_DONE: return
                case let code: throw error(code)
                }
            }
        }
    }

    private func error(_ code: CInt) -> DatabaseError {
        DatabaseError(
            resultCode: ResultCode(rawValue: code), message: sqlite3_errmsg(connection).map { String(cString: $0) })
    }
}

/// Gathers a statement's values, left to right.
///
/// All bytes stand in one buffer that SQLite reads in place. Given one by one they would each be copied into memory of
/// SQLite's own, which costs as much as the insertion of a row.
struct Binder {
    private enum Value {
        case null
        case integer(Int64)
        case text(Range<Int>)
        case blob(Range<Int>)
    }

    private var values: [Value] = []
    /// Never empty, so that an empty text has an address: one without would be NULL.
    private var bytes: [UInt8] = [0]

    fileprivate mutating func removeAll() {
        values.removeAll(keepingCapacity: true)
        bytes.removeSubrange(1...)
    }

    mutating func integer(_ value: Int64?) {
        values.append(value.map { .integer($0) } ?? .null)
    }

    mutating func time(_ value: Timestamp?) {
        integer(value?.milliseconds)
    }

    mutating func text(_ value: String?) {
        guard let value else { return values.append(.null) }
        let start = bytes.count
        bytes.append(contentsOf: value.utf8)
        values.append(.text(start..<bytes.count))
    }

    mutating func blob(_ value: [UInt8]?) {
        guard let value else { return values.append(.null) }
        let start = bytes.count
        bytes.append(contentsOf: value)
        values.append(.blob(start..<bytes.count))
    }

    /// Runs a block while the statement has the values.
    ///
    /// - Parameter body: gets SQLite's answer; after the first failure no more values are bound.
    fileprivate func withBound(to statement: SQLiteStatement, _ body: (CInt) throws -> Void) throws {
        try bytes.withUnsafeBytes { buffer in
            // The statement is reset, because left as it is it would keep its transaction from ending, and lets go of the
            // buffer before the buffer's address ends. Both only repeat the error of the step, which was thrown.
            defer {
                sqlite3_reset(statement)
                sqlite3_clear_bindings(statement)
            }
            var code = SQLITE_OK
            for (index, value) in zip(CInt(1)..., values) where code == SQLITE_OK {
                code = Self.bind(value, index, of: statement, in: buffer)
            }
            try body(code)
        }
    }

    /// Without a destructor (`SQLITE_STATIC`) SQLite takes the bytes to stay where they are.
    private static func bind(
        _ value: Value, _ index: CInt, of statement: SQLiteStatement, in buffer: UnsafeRawBufferPointer
    ) -> CInt {
        switch value {
        case .null: return sqlite3_bind_null(statement, index)
        case .integer(let number): return sqlite3_bind_int64(statement, index, number)
        case .text(let range):
            let start = buffer.baseAddress?.advanced(by: range.lowerBound).assumingMemoryBound(to: CChar.self)
            return sqlite3_bind_text(statement, index, start, CInt(range.count), nil)
        case .blob(let range):
            let start = buffer.baseAddress?.advanced(by: range.lowerBound)
            return sqlite3_bind_blob(statement, index, start, CInt(range.count), nil)
        }
    }
}

/// The current row of a query; columns count from 0.
struct Columns {
    private let statement: SQLiteStatement

    fileprivate init(statement: SQLiteStatement) {
        self.statement = statement
    }

    func integer(_ column: CInt) -> Int64 {
        sqlite3_column_int64(statement, column)
    }

    func optionalInteger(_ column: CInt) -> Int64? {
        sqlite3_column_type(statement, column) == SQLITE_NULL ? nil : integer(column)
    }

    func time(_ column: CInt) -> Timestamp {
        Timestamp(milliseconds: integer(column))
    }

    func optionalTime(_ column: CInt) -> Timestamp? {
        optionalInteger(column).map(Timestamp.init(milliseconds:))
    }

    func text(_ column: CInt) -> String {
        optionalText(column) ?? ""
    }

    func optionalText(_ column: CInt) -> String? {
        // SQLite owns the bytes until the next step; the order of these two calls is its rule.
        guard let start = sqlite3_column_text(statement, column) else { return nil }
        let count = Int(sqlite3_column_bytes(statement, column))
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    /// Bytes of a text, as stored.
    func byteCount(_ column: CInt) -> Int {
        Int(sqlite3_column_bytes(statement, column))
    }

    func optionalBlob(_ column: CInt) -> [UInt8]? {
        guard sqlite3_column_type(statement, column) != SQLITE_NULL else { return nil }
        guard let start = sqlite3_column_blob(statement, column) else { return [] }
        return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column))))
    }

    /// A column that holds one of a closed set of words.
    func word<Word: RawRepresentable<String>>(_ column: CInt, as: Word.Type = Word.self) throws(LedgerError) -> Word {
        guard let word = Word(rawValue: text(column)) else {
            throw .damaged("a row holds a word that this schema does not have")
        }
        return word
    }
}
