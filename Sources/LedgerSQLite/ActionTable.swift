import Contract
import Ledger

/// Statements on `operator_actions`, within one transaction.
struct ActionTable {
    let database: Database

    func add(_ kind: OperatorAction.Kind, _ note: OperatorNote, on key: SubmissionKey?) throws(StoreError) {
        try database.statement(ActionColumns.written.insertion(into: "operator_actions")).run {
            ActionColumns.write(kind, note, on: key, to: &$0)
        }
    }

    /// In order; nil for those on the ledger as a whole.
    func all(on key: SubmissionKey?) throws(StoreError) -> [OperatorAction] {
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

    func count(_ keys: [SubmissionKey]) throws(StoreError) -> Int {
        var count = 0
        for key in keys {
            count +=
                try database.statement("SELECT count(*) FROM operator_actions WHERE submission_id = ? AND app = ?")
                .count { $0.submission(key) }
        }
        return count
    }

    /// Actions on a person's submissions. A reason may name the person, so it goes, too.
    func rename(_ keys: [SubmissionKey], _ pseudonyms: Pseudonyms) throws(StoreError) {
        for key in keys {
            try database.statement(
                """
                UPDATE operator_actions SET submission_id = ?3, reason = '\(FoundErasure.reason)'
                WHERE submission_id = ?1 AND app = ?2
                """
            ).run {
                $0.submission(key)
                $0.text(pseudonyms.of(key.submissionID))
            }
        }
    }
}
