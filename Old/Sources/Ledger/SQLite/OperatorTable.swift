import GRDB
import Purchases

/// Statements on what people did, within one database access.
struct OperatorTable {
    let database: Database

    /// - Parameter key: nil for something done to many.
    func add(
        _ kind: OperatorAction.Kind, _ note: OperatorNote, key: SubmissionKey?, cause: WaitingCause?, count: Int,
        now: Timestamp
    ) throws {
        let statement = try PreparedStatement(
            """
            INSERT INTO operator_actions (
                done_at, kind, actor, reason, bundle_id, submission_id, outcome, cause, submissions)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, on: database)
        try statement.run {
            $0.time(now)
            $0.text(kind.rawValue)
            $0.text(note.actor)
            $0.text(note.reason)
            $0.text(key?.bundleID.rawValue)
            $0.text(key?.submissionID.rawValue)
            $0.text(cause?.outcome.rawValue)
            $0.text(cause?.word)
            $0.integer(Int64(count))
        }
    }

    func actions(on key: SubmissionKey) throws -> [OperatorAction] {
        let statement = try PreparedStatement(
            """
            SELECT done_at, kind, actor, reason, submissions FROM operator_actions
            WHERE bundle_id = ? AND submission_id = ? ORDER BY sequence
            """, on: database)
        return try statement.rows {
            $0.text(key.bundleID.rawValue)
            $0.text(key.submissionID.rawValue)
        } read: { row in
            OperatorAction(
                at: row.time(0), kind: try row.word(1), note: OperatorNote(actor: row.text(2), reason: row.text(3)),
                count: Int(row.integer(4)))
        }
    }
}
