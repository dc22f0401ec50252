import CLibpq

/// A statement and its values. Its text stays the same from run to run, because each connection keeps it prepared.
///
/// Each parameter is cast, as in `$1::bigint`, so the server knows its type. NULL needs none.
struct PostgresStatement: Sendable {
    let sql: String
    let parameters: PostgresParameters

    init(_ sql: String, _ bind: (inout PostgresParameters) -> Void = { _ in }) {
        var parameters = PostgresParameters()
        bind(&parameters)
        self.init(sql, parameters)
    }

    init(_ sql: String, _ parameters: PostgresParameters) {
        self.sql = sql
        self.parameters = parameters
    }

    /// A statement on rows: its first parameters are the arrays of their columns.
    /// - Parameters:
    ///   - types: One for each value of a row; at least one.
    ///   - write: Gives the values of one element's row.
    ///   - rest: Gives the parameters behind the arrays.
    init<Element>(
        _ sql: String, each elements: some Sequence<Element>, _ types: [PostgresColumn.Element],
        _ write: (Element, inout PostgresColumns) -> Void, rest: (inout PostgresParameters) -> Void = { _ in }
    ) {
        var columns = PostgresColumns(types: types)
        for element in elements { write(element, &columns) }
        self.init(sql) {
            columns.add(to: &$0)
            rest(&$0)
        }
    }
}

/// Gathers a statement's values, left to right, in PostgreSQL's binary form.
///
/// A text with a NUL is sent whole. The server refuses it (22021), because its texts have none.
struct PostgresParameters: Sendable {
    /// Where each value stands; nil for NULL.
    private var values: [Range<Int>?] = []
    /// Never empty, so that an empty text has an address: libpq takes a text without one for NULL.
    private var bytes: [UInt8] = [0]

    var count: Int { values.count }

    /// For `$n::bigint`.
    mutating func integer(_ value: Int64?) {
        guard let value else { return null() }
        append { $0.append(bigEndian: value) }
    }

    /// For `$n::text`.
    mutating func text(_ value: String?) {
        guard let value else { return null() }
        append { $0.append(contentsOf: value.utf8) }
    }

    /// For `$n::bytea`.
    mutating func blob(_ value: some Collection<UInt8>) { append { $0.append(contentsOf: value) } }

    mutating func null() { values.append(nil) }

    /// For `$n::bigint[]`, `$n::text[]` or `$n::bytea[]`.
    mutating func array(_ column: PostgresColumn) { append { column.write(to: &$0) } }

    private mutating func append(_ write: (inout [UInt8]) -> Void) {
        let start = bytes.count
        write(&bytes)
        values.append(start..<bytes.count)
    }

    /// Runs a block with pointers to the values and their lengths, as libpq takes them.
    func withPointers<Outcome>(_ body: ([UnsafePointer<CChar>?], [CInt]) -> Outcome) -> Outcome {
        bytes.withUnsafeBytes { buffer in
            let start = buffer.baseAddress?.assumingMemoryBound(to: CChar.self)
            return body(
                values.map { value in value.flatMap { start?.advanced(by: $0.lowerBound) } },
                values.map { CInt(clamping: $0?.count ?? 0) })
        }
    }
}

/// The values of one column of many rows: a one-dimensional array, for `unnest` or `= ANY`.
struct PostgresColumn: Sendable {
    /// Element types by their object ids, which are the same on every server.
    enum Element: Int32, Sendable {
        case blob = 17
        case integer = 20
        case text = 25
    }

    private let element: Element
    /// Each value behind its length, which is -1 for NULL.
    private var bytes: [UInt8] = []
    private var count: Int32 = 0

    init(_ element: Element) { self.element = element }

    mutating func integer(_ value: Int64?) {
        guard let value else { return null() }
        count += 1
        bytes.append(bigEndian: Int32(8))
        bytes.append(bigEndian: value)
    }

    mutating func text(_ value: String?) {
        guard let value else { return null() }
        blob(value.utf8)
    }

    mutating func blob(_ value: some Collection<UInt8>) {
        count += 1
        bytes.append(bigEndian: Int32(clamping: value.count))
        bytes.append(contentsOf: value)
    }

    mutating func null() {
        count += 1
        bytes.append(bigEndian: Int32(-1))
    }

    /// Writes dimensions, a flag for nulls (which the server sees itself), type, length and lower bound, then the
    /// values.
    fileprivate func write(to target: inout [UInt8]) {
        target.reserveCapacity(target.count + 20 + bytes.count)
        for number in [1, 0, element.rawValue, count, 1] { target.append(bigEndian: number) }
        target.append(contentsOf: bytes)
    }
}

/// Rows, given value by value, as the columns that `unnest` takes apart again.
struct PostgresColumns: Sendable {
    private var columns: [PostgresColumn]
    /// The column of the next value.
    private var next = 0

    /// - Parameter types: One for each value of a row; at least one.
    init(types: [PostgresColumn.Element]) { columns = types.map { PostgresColumn($0) } }

    mutating func integer(_ value: Int64?) { append { $0.integer(value) } }
    mutating func text(_ value: String?) { append { $0.text(value) } }
    mutating func blob(_ value: some Collection<UInt8>) { append { $0.blob(value) } }
    mutating func null() { append { $0.null() } }

    /// Appends one array for each column.
    func add(to parameters: inout PostgresParameters) {
        assert(next == 0, "a row is incomplete, so that later values stand in other columns than theirs")
        for column in columns { parameters.array(column) }
    }

    private mutating func append(_ write: (inout PostgresColumn) -> Void) {
        guard next < columns.count else { return }
        write(&columns[next])
        next = next + 1 == columns.count ? 0 : next + 1
    }
}

extension [UInt8] {
    fileprivate mutating func append(bigEndian number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
    }
}
