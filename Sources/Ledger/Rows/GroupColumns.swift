/// The form of the row of `consumer_group`, the same in every database.
public enum GroupColumns: Int32, TableColumn {
    case name, cluster, topics

    public static let table = "consumer_group"
    public static let written = WrittenColumns(allCases)
    /// No name of a topic has it.
    private static let separator = ","

    public var kind: WrittenColumns.Kind { .text }

    /// Writes the values of ``written``.
    public static func write(_ group: ConsumerGroup, to row: inout some RowWriter) {
        for column in allCases {
            switch column {
            case .name: row.text(group.name)
            case .cluster: row.text(group.cluster)
            case .topics: row.text(group.topics.joined(separator: separator))
            }
        }
    }

    /// Columns of ``group(_:)``.
    public static let shown = selected

    /// The group that the ledger is bound to; the cluster is nil where the row has none.
    public static func group(_ row: some RowReader) -> ConsumerGroup {
        let row = TableRow(row, Self.self)
        return ConsumerGroup(
            name: row.text(.name), cluster: row.optionalText(.cluster),
            topics: row.text(.topics).split(separator: separator, omittingEmptySubsequences: false).map(String.init))
    }
}
