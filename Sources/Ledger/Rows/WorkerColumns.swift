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
