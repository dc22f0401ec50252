import Purchases

/// A parameter in PostgreSQL's binary form; nil bytes stand for NULL.
struct PostgresValue: Sendable {
    let bytes: [UInt8]?

    static let null = PostgresValue(bytes: nil)

    static func text(_ text: String?) -> PostgresValue {
        guard let text else { return null }
        var bytes: [UInt8] = []
        PostgresText.append(text, to: &bytes)
        return PostgresValue(bytes: bytes)
    }

    static func bytes(_ bytes: [UInt8]?) -> PostgresValue {
        PostgresValue(bytes: bytes)
    }

    /// For `bigint` parameters.
    static func integer(_ number: Int64?) -> PostgresValue {
        guard let number else { return null }
        var bytes: [UInt8] = []
        bytes.append(bigEndian: number)
        return PostgresValue(bytes: bytes)
    }

    /// For `bigint` parameters that hold milliseconds since the UNIX epoch.
    static func time(_ time: Timestamp?) -> PostgresValue {
        integer(time?.milliseconds)
    }

    /// For `bigint[]` parameters.
    static func integers(_ numbers: [Int64]) -> PostgresValue {
        var column = PostgresColumn(.integer, count: numbers.count)
        for number in numbers { column.append(number) }
        return column.value
    }

    /// For `text[]` parameters.
    static func texts(_ texts: [String]) -> PostgresValue {
        var column = PostgresColumn(.text, count: texts.count)
        for text in texts { column.append(text) }
        return column.value
    }
}

/// The values of one column of many rows: a one-dimensional array in binary form, for `unnest`.
struct PostgresColumn {
    /// Object ids of the element types, as every server has them.
    enum Element: Int32 {
        case bytes = 17
        case integer = 20
        case text = 25
        case uuid = 2950

        /// The type of an array of them.
        var array: String {
            switch self {
            case .bytes: "bytea[]"
            case .integer: "bigint[]"
            case .text: "text[]"
            case .uuid: "uuid[]"
            }
        }
    }

    private var bytes: [UInt8] = []
    private var count: Int32 = 0
    private var hasNull = false

    /// An empty column.
    ///
    /// - Parameters:
    ///   - count: how many values to expect.
    ///   - size: how many bytes to expect of all of them; nil for 20 each.
    init(_ element: Element, count: Int, of size: Int? = nil) {
        bytes.reserveCapacity(20 + count * 4 + (size ?? count * 20))
        // Dimensions, whether there are nulls, type, length and lower bound; what depends on the values is filled in last.
        for number in [1, 0, element.rawValue, 0, 1] as [Int32] { bytes.append(bigEndian: number) }
    }

    mutating func append(_ text: String?) {
        guard let text else { return appendNull() }
        appendSized { PostgresText.append(text, to: &$0) }
    }

    mutating func append(_ value: [UInt8]?) {
        guard let value else { return appendNull() }
        appendSized { $0.append(contentsOf: value) }
    }

    mutating func append(_ number: Int64?) {
        guard let number else { return appendNull() }
        appendSized { $0.append(bigEndian: number) }
    }

    mutating func append(_ time: Timestamp?) {
        append(time?.milliseconds)
    }

    /// The array as a parameter.
    var value: PostgresValue {
        // In place: columns of events are large.
        mutating get {
            bytes.replace(at: 4, bigEndian: hasNull ? 1 : 0)
            bytes.replace(at: 12, bigEndian: count)
            return PostgresValue(bytes: bytes)
        }
    }

    private mutating func appendNull() {
        count += 1
        hasNull = true
        bytes.append(bigEndian: Int32(-1))
    }

    private mutating func appendSized(_ append: (inout [UInt8]) -> Void) {
        count += 1
        let start = bytes.count
        bytes.append(bigEndian: Int32(0))
        append(&bytes)
        bytes.replace(at: start, bigEndian: Int32(bytes.count - start - 4))
    }
}

/// Rows, given value by value, as the columns that `unnest` takes apart again.
struct PostgresColumns {
    private var columns: [PostgresColumn]
    /// The column that the next value goes to.
    private var next = 0

    /// - Parameters:
    ///   - elements: one for each value of a row.
    ///   - count: how many rows to expect.
    init(_ elements: [PostgresColumn.Element], count: Int) {
        columns = elements.map { PostgresColumn($0, count: count) }
    }

    mutating func append(_ text: String?) {
        columns[next].append(text)
        advance()
    }

    mutating func append(_ value: [UInt8]?) {
        columns[next].append(value)
        advance()
    }

    mutating func append(_ number: Int64?) {
        columns[next].append(number)
        advance()
    }

    mutating func append(_ time: Timestamp?) {
        columns[next].append(time)
        advance()
    }

    /// A parameter for each column.
    var values: [PostgresValue] {
        mutating get {
            assert(next == 0, "a row is incomplete, and the values after it are in other columns than theirs")
            return columns.indices.map { columns[$0].value }
        }
    }

    private mutating func advance() { next = next + 1 == columns.count ? 0 : next + 1 }
}

extension [UInt8] {
    fileprivate mutating func append(bigEndian number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
    }

    fileprivate mutating func replace(at index: Int, bigEndian number: Int32) {
        for (offset, shift) in [24, 16, 8, 0].enumerated() {
            self[index + offset] = UInt8(truncatingIfNeeded: number >> Int32(shift))
        }
    }
}
