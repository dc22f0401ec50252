import Contract

/// The form of a row of `operator_actions`, the same in every database.
public enum ActionColumns: Int32, TableColumn {
    case kind, actor, reason, doneAt, app, submissionID

    public static let table = "operator_actions"
    public static let written = WrittenColumns(allCases)

    public var kind: WrittenColumns.Kind { self == .doneAt ? .integer : .text }

    /// Writes the values of ``written``.
    public static func write(
        _ kind: OperatorAction.Kind, _ note: OperatorNote, on key: SubmissionKey?, to row: inout some RowWriter
    ) {
        for column in allCases {
            switch column {
            case .kind: row.text(kind.rawValue)
            case .actor: row.text(note.actor)
            case .reason: row.text(note.reason)
            case .doneAt: row.time(note.at)
            case .app: row.text(key?.bundleID)
            case .submissionID: row.text(key?.submissionID)
            }
        }
    }

    /// Columns of ``action(_:)``.
    public static let shown = selected

    /// Nil for one of a kind that only a later version knows.
    public static func action(_ row: some RowReader) -> OperatorAction? {
        let row = TableRow(row, Self.self)
        guard let kind: OperatorAction.Kind = row.word(.kind) else { return nil }
        let key = row.optionalText(.app).map {
            SubmissionKey(bundleID: BundleID($0), submissionID: row.identifier(.submissionID))
        }
        return OperatorAction(
            kind: kind, note: OperatorNote(actor: row.text(.actor), reason: row.text(.reason), at: row.time(.doneAt)),
            submission: key)
    }
}
