import Contract
import Ledger

/// Statements on `ledger` and `operator_actions`, within one transaction.
struct OperatorTable {
    let database: Database

    func identity() throws(StoreError) -> String {
        guard let id = try database.text("SELECT id FROM ledger") else { throw .contradiction("the ledger has no id") }
        return id
    }

    func add(_ kind: OperatorAction.Kind, _ note: OperatorNote, on key: SubmissionKey?) throws(StoreError) {
        try database.statement(ActionColumns.written.insertion(into: "operator_actions")).run {
            ActionColumns.write(kind, note, on: key, to: &$0)
        }
    }

    func actions(on key: SubmissionKey?) throws(StoreError) -> [OperatorAction] {
        try database.statement(
            """
            SELECT \(ActionColumns.shown) FROM operator_actions
            WHERE submission_id IS ? AND app IS ? ORDER BY sequence
            """
        ).rows {
            $0.text(key?.submissionID)
            $0.text(key?.bundleID)
        } read: {
            ActionColumns.action($0)
        }.compactMap(\.self)
    }
}
