import Contract
import FoundationEssentials

/// The form of the row of `measure`: the latest sample of waiting rows, where several workers share it.
public enum SampleColumns: Int32, TableColumn {
    case takenAt, took, content

    public static let table = "measure"
    public static let written = WrittenColumns(allCases)

    public var kind: WrittenColumns.Kind { self == .content ? .text : .integer }

    /// Writes the values of ``written``.
    /// - Parameter took: Milliseconds.
    public static func write(_ sample: LedgerMeasure, took: Int64, to row: inout some RowWriter) {
        for column in allCases {
            switch column {
            case .takenAt: row.time(sample.takenAt)
            case .took: row.integer(took)
            case .content: row.text(sample.text)
            }
        }
    }

    /// Columns of ``sample(_:)``.
    public static let shown = selected

    /// The latest sample and how many milliseconds it took; nil before the first.
    public static func sample(_ row: some RowReader) -> (measure: LedgerMeasure, took: Int64)? {
        let row = TableRow(row, Self.self)
        guard var measure = LedgerMeasure(text: row.text(.content)) else { return nil }
        measure.takenAt = row.time(.takenAt)
        return (measure, row.integer(.took))
    }
}

extension LedgerMeasure {
    /// The form of a column, in JSON.
    public var text: String { (try? JSONEncoder().encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "" }

    /// The sample in a column. Nil for a text that has another form, or a word of a later version: it is taken anew.
    public init?(text: String) {
        guard let sample = try? JSONDecoder().decode(Self.self, from: Data(text.utf8)) else { return nil }
        self = sample
    }
}
