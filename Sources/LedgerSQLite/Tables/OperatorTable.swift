import Contract
import Ledger

/// Statements on `ledger` and `operator_actions`, within one transaction.
struct OperatorTable {
    let database: Database

    func identity() throws(StoreError) -> String {
        guard let id = try database.text("SELECT id FROM ledger") else { throw .contradiction("the ledger has no id") }
        return id
    }

    func isAccepted() throws(StoreError) -> Bool {
        try database.number("SELECT count(*) FROM ledger WHERE accepted_at IS NOT NULL") > 0
    }

    func accept(at moment: Timestamp) throws(StoreError) {
        try database.statement("UPDATE ledger SET accepted_at = ?").run { $0.time(moment) }
    }

    func add(_ kind: OperatorAction.Kind, _ note: OperatorNote, on key: SubmissionKey?) throws(StoreError) {
        try database.statement(
            """
            INSERT INTO operator_actions (kind, actor, reason, done_at, app, submission_id) VALUES (?, ?, ?, ?, ?, ?)
            """
        ).run {
            $0.text(kind.rawValue)
            $0.text(note.actor)
            $0.text(note.reason)
            $0.time(note.at)
            $0.text(key?.bundleID)
            $0.text(key?.submissionID)
        }
    }

    func actions(on key: SubmissionKey?) throws(StoreError) -> [OperatorAction] {
        try database.statement(
            """
            SELECT kind, actor, reason, done_at FROM operator_actions
            WHERE submission_id IS ? AND app IS ? ORDER BY sequence
            """
        ).rows {
            $0.text(key?.submissionID)
            $0.text(key?.bundleID)
        } read: { (row) throws(StoreError) -> OperatorAction? in
            guard let kind = OperatorAction.Kind(rawValue: row.text(0)) else { return nil }
            return OperatorAction(
                kind: kind, note: OperatorNote(actor: row.text(1), reason: row.text(2), at: row.time(3)),
                submission: key)
        }.compactMap { $0 }
    }
}
