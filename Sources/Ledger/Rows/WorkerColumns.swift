public import Contract

/// The form of a row of `workers`, the same in every database.
public enum WorkerColumns: Int32, TableColumn {
    case id, name, version, startedAt, seenAt

    public static let table = "workers"
    public static let written = WrittenColumns(allCases)

    public var kind: WrittenColumns.Kind {
        switch self {
        case .id, .startedAt, .seenAt: .integer
        case .name, .version: .text
        }
    }

    /// A query for ``row(_:now:)``.
    public static let selection = "SELECT \(selected) FROM workers ORDER BY name, id"

    /// - Parameter now: By the ledger's clock; decides whether the worker counts as living.
    public static func row(_ row: some RowReader, now: Timestamp) -> WorkerRow {
        let row = TableRow(row, Self.self)
        let seenAt = row.time(.seenAt)
        return WorkerRow(
            name: row.text(.name), version: row.text(.version), startedAt: row.time(.startedAt), seenAt: seenAt,
            isLive: WorkerSign.living(at: now).contains(seenAt.milliseconds))
    }

    /// Writes the values of ``written`` for a first sign.
    public static func write(_ worker: WorkerSign, now: Timestamp, to row: inout some RowWriter) {
        for column in allCases {
            switch column {
            case .id: row.integer(worker.id)
            case .name: row.text(worker.name)
            case .version: row.text(worker.version)
            case .startedAt, .seenAt: row.time(now)
            }
        }
    }
}
