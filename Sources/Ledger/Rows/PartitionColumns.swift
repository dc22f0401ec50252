public import Contract

/// The form of a row of `partitions`, the same in every database.
public enum PartitionColumns: Int32, TableColumn {
    case number, topic, partition, owner, generation, nextOffset, passedOffset, starts, markedOffset, suspectOffset
    case suspectEnds

    public static let table = "partitions"

    public var kind: WrittenColumns.Kind {
        switch self {
        case .topic, .owner: .text
        case .number, .partition, .generation, .nextOffset, .passedOffset, .starts, .markedOffset, .suspectOffset,
            .suspectEnds:
            .integer
        }
    }

    /// A row of a refused partition: the group had an offset of it, and the ledger had none of its topic.
    public static let isRefused = "(partitions.generation IS NULL AND partitions.next_offset IS NULL)"

    /// A row that stands for a file of imported grants. It has neither generation nor offset, and never gets any.
    public static let isImport = "(partitions.topic LIKE '\(GrantImport.topicPrefix)%')"

    /// Columns of everything that is read of a row.
    public static let shown = selected

    /// Topic and number of the partition; a number out of range becomes the nearest one.
    public static func partition(_ row: some RowReader) -> TopicPartition {
        let row = TableRow(row, Self.self)
        return TopicPartition(topic: row.text(.topic), partition: Int32(clamping: row.integer(.partition)))
    }

    /// The ledger's own number of the partition, which rows of `grants` name it by.
    public static func number(_ row: some RowReader) -> Int64 { TableRow(row, Self.self).integer(.number) }
    /// The offset up to which records are complete; nil where the row has none.
    public static func next(_ row: some RowReader) -> Int64? { TableRow(row, Self.self).optionalInteger(.nextOffset) }

    /// ``isRefused`` of a row that was read.
    public static func isRefused(_ row: some RowReader) -> Bool {
        let row = TableRow(row, Self.self)
        return row.isNull(.generation) && row.isNull(.nextOffset)
    }

    /// The row as people see it.
    public static func row(_ row: some RowReader) -> PartitionRow {
        let partition = partition(row)
        let row = TableRow(row, Self.self)
        return PartitionRow(
            partition: partition, next: row.optionalInteger(.nextOffset), owner: row.optionalText(.owner),
            starts: row.int(.starts))
    }

    /// The start of a partition that was taken over.
    /// - Parameter highestOrigin: Of the rows that came from it.
    public static func start(_ row: some RowReader, highestOrigin: Int64?) -> PartitionStart {
        let row = TableRow(row, Self.self)
        let suspect = row.optionalInteger(.suspectOffset).map { CheckSuspect(offset: $0, ends: row.int(.suspectEnds)) }
        return PartitionStart(
            next: row.optionalInteger(.nextOffset), passed: row.optionalInteger(.passedOffset),
            highestOrigin: highestOrigin, starts: row.int(.starts), suspect: suspect)
    }
}
