import Contract

/// The columns of a table: the one list from which statements name them, and by which rows are written and read. So
/// their order is said nowhere else. Values are written in a `switch` over the list, and a new column does not compile
/// without one.
public protocol TableColumn: RawRepresentable<Int32>, CaseIterable, Hashable, Sendable {
    static var table: String { get }
    var kind: WrittenColumns.Kind { get }
    /// Its index in a row as the table's selection finds it; columns count from 0.
    var index: Int32 { get }
    /// Where a selection has it from.
    var source: String { get }
}

extension TableColumn {
    public var index: Int32 { rawValue }
    public var source: String { "\(Self.table).\(name)" }

    /// Its name in the database, which is the case's in lower case: `originOffset` is `origin_offset`.
    public var name: String {
        var name = ""
        var isWithinWord = false
        for letter in "\(self)" {
            if letter.isUppercase, isWithinWord { name += "_" }
            name += letter.lowercased()
            isWithinWord = letter.isLowercase
        }
        return name
    }

    /// The index of the first further column of a selection.
    public static var count: Int32 { Int32(allCases.count) }

    /// All of them, as a selection lists them.
    static var selected: String { allCases.map(\.source).joined(separator: ", ") }
}

/// Columns of tables whose rows are of a submission's record, and are read with its partition's topic and number.
public protocol RecordColumn: TableColumn {
    static var app: Self { get }
    static var submissionID: Self { get }
    static var userID: Self { get }
    static var orderID: Self { get }
    static var traceparent: Self { get }
    static var topic: Self { get }
    static var partition: Self { get }
    static var originOffset: Self { get }
}

extension RecordColumn {
    public var source: String { "\(self == .topic || self == .partition ? "partitions" : Self.table).\(name)" }
}

/// Columns that a statement writes, in the order of their values.
public struct WrittenColumns: Sendable {
    public enum Kind: Hashable, Sendable {
        case integer
        case text
        case blob
    }

    public let names: [String]
    public let kinds: [Kind]

    init(_ columns: [some TableColumn]) {
        names = columns.map(\.name)
        kinds = columns.map(\.kind)
    }

    private init(names: [String], kinds: [Kind]) {
        self.names = names
        self.kinds = kinds
    }

    static func + (left: Self, right: Self) -> Self {
        Self(names: left.names + right.names, kinds: left.kinds + right.kinds)
    }

    /// Their names, as an insertion lists them.
    public var list: String { names.joined(separator: ", ") }
}

/// A row as a table's selection finds it, read by the names of its columns. A name is an index once this is compiled.
struct TableRow<Column: TableColumn, Reader: RowReader> {
    let row: Reader

    init(_ row: Reader, _: Column.Type) { self.row = row }

    @inline(__always) func isNull(_ column: Column) -> Bool { row.isNull(column.index) }
    @inline(__always) func int(_ column: Column) -> Int { row.int(column.index) }
    @inline(__always) func integer(_ column: Column) -> Int64 { row.integer(column.index) }
    @inline(__always) func optionalInteger(_ column: Column) -> Int64? { row.optionalInteger(column.index) }
    @inline(__always) func text(_ column: Column) -> String { row.text(column.index) }
    @inline(__always) func optionalText(_ column: Column) -> String? { row.optionalText(column.index) }
    @inline(__always) func blob(_ column: Column) -> [UInt8] { row.blob(column.index) }

    @inline(__always) func time(_ column: Column) -> Timestamp { Timestamp(milliseconds: integer(column)) }

    @inline(__always) func optionalTime(_ column: Column) -> Timestamp? {
        optionalInteger(column).map(Timestamp.init(milliseconds:))
    }

    @inline(__always) func identifier<Kind>(_ column: Column) -> Identifier<Kind> { Identifier(text(column)) }

    @inline(__always) func optionalIdentifier<Kind>(_ column: Column) -> Identifier<Kind>? {
        optionalText(column).map { Identifier($0) }
    }

    /// A column that holds one of a closed set of words; nil for the word of a later version.
    @inline(__always) func word<Word: RawRepresentable<String>>(_ column: Column) -> Word? {
        Word(rawValue: text(column))
    }
}

extension TableRow where Column: RecordColumn {
    var claimant: Claimant {
        Claimant(
            submissionID: identifier(.submissionID), userID: identifier(.userID), bundleID: identifier(.app),
            orderID: optionalIdentifier(.orderID), traceparent: optionalText(.traceparent))
    }

    var origin: Origin {
        Origin(topic: text(.topic), partition: Int32(clamping: integer(.partition)), offset: integer(.originOffset))
    }
}
