import GRDB
import GRDBSQLite
import Purchases

/// A statement of GRDB's cache, bound and stepped through SQLite's own interface.
///
/// GRDB binds and reads text up to its first NUL, which would make two user ids one, and boxes every value, which
/// costs more than the insert itself. The cache keeps the statement and finalizes it with its connection, so it must
/// not outlive the block of the database access it was made in.
struct PreparedStatement {
    private let statement: Statement
    private let pointer: SQLiteStatement
    private let connection: SQLiteConnection?

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
        // Bindings are cleared so that the cache holds no evidence, and a statement left unreset would keep its
        // transaction from ending. Both only repeat the error of the step, which is thrown below.
        defer {
            sqlite3_reset(pointer)
            sqlite3_clear_bindings(pointer)
        }
        var binder = Binder(statement: pointer)
        bind(&binder)
        guard binder.code == SQLITE_OK else { throw error(binder.code) }
        while true {
            switch sqlite3_step(pointer) {
            case SQLITE_ROW: guard try row(Columns(statement: pointer)) else { return }
            case SQLITE_DONE: return
            case let code: throw error(code)
            }
        }
    }

    private func error(_ code: CInt) -> DatabaseError {
        DatabaseError(
            resultCode: ResultCode(rawValue: code), message: sqlite3_errmsg(connection).map { String(cString: $0) })
    }
}

/// Gives a statement its values, left to right.
struct Binder {
    // SQLite copies what it is given: the closures' buffers end before the step. The C macro is a cast of -1, which
    // is not imported.
    private static var copied: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

    private let statement: SQLiteStatement
    private var index: CInt = 0
    /// The first failure; values after it are not bound.
    private(set) var code = SQLITE_OK

    fileprivate init(statement: SQLiteStatement) {
        self.statement = statement
    }

    mutating func integer(_ value: Int64?) {
        bind { statement, index in
            guard let value else { return sqlite3_bind_null(statement, index) }
            return sqlite3_bind_int64(statement, index, value)
        }
    }

    mutating func time(_ value: Timestamp?) {
        integer(value?.milliseconds)
    }

    mutating func text(_ value: String?) {
        bind { statement, index in
            guard var value else { return sqlite3_bind_null(statement, index) }
            return value.withUTF8 { utf8 in
                // A buffer without an address would bind NULL.
                guard let start = utf8.baseAddress else { return sqlite3_bind_text(statement, index, "", 0, nil) }
                return start.withMemoryRebound(to: CChar.self, capacity: utf8.count) {
                    sqlite3_bind_text(statement, index, $0, CInt(utf8.count), Self.copied)
                }
            }
        }
    }

    mutating func blob(_ value: [UInt8]?) {
        bind { statement, index in
            guard let value else { return sqlite3_bind_null(statement, index) }
            guard !value.isEmpty else { return sqlite3_bind_zeroblob(statement, index, 0) }
            return value.withUnsafeBytes {
                sqlite3_bind_blob(statement, index, $0.baseAddress, CInt($0.count), Self.copied)
            }
        }
    }

    private mutating func bind(_ value: (SQLiteStatement, CInt) -> CInt) {
        guard code == SQLITE_OK else { return }
        index += 1
        code = value(statement, index)
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
