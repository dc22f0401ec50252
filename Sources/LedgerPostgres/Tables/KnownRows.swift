import Contract
import Ledger

/// Rows that this version can read, and how many only a later one can.
struct KnownRows<Row> {
    var known: [Row] = []
    var later = 0

    /// The rows of a reply by their submissions, in its order.
    static func bySubmission<Column: RecordColumn>(
        _ result: PostgresResult, _: Column.Type, _ read: (PostgresRow) -> Row?
    ) -> [SubmissionKey: Self] {
        var found: [SubmissionKey: Self] = [:]
        for row in result.rows {
            let key = SubmissionKey(
                bundleID: row.identifier(Column.app.index), submissionID: row.identifier(Column.submissionID.index))
            if let known = read(row) {
                found[key, default: Self()].known.append(known)
            } else {
                found[key, default: Self()].later += 1
            }
        }
        return found
    }
}
