import Contract
import Ledger

/// Statements on `operator_actions`, within one transaction.
struct ActionTable {
    let connection: PostgresConnection

    func add(_ kind: OperatorAction.Kind, _ note: OperatorNote, on key: SubmissionKey?) throws(PostgresFailure) {
        try connection.run(
            PostgresStatement(
                "INSERT INTO operator_actions (\(ActionColumns.written.list)) VALUES (\(ActionColumns.written.values))"
            ) { ActionColumns.write(kind, note, on: key, to: &$0) })
    }

    /// In order; nil for those on the ledger as a whole.
    func all(on key: SubmissionKey?) throws(PostgresFailure) -> [OperatorAction] {
        let condition =
            key == nil ? "app IS NULL" : "\(HashedIndex.condition("submission_id", "$1::text")) AND app = $2::text"
        let statement = PostgresStatement(
            "SELECT \(ActionColumns.shown) FROM operator_actions WHERE \(condition) ORDER BY sequence"
        ) { parameters in
            if let key { parameters.submission(key) }
        }
        return try connection.run(statement).rows.compactMap { ActionColumns.action($0) }
    }

    func count(_ keys: [SubmissionKey]) throws(PostgresFailure) -> Int {
        guard !keys.isEmpty else { return 0 }
        let statement = PostgresStatement(
            """
            SELECT count(*) FROM unnest($1::text[], $2::text[]) AS asked (s, a)
            JOIN operator_actions ON \(HashedIndex.condition("submission_id", "s")) AND app = a
            """, each: keys, [.text, .text]
        ) { $1.submission($0) }
        return try connection.run(statement).first?.int(0) ?? 0
    }

    /// Actions on a person's submissions. A reason may name the person, so it goes, too.
    func rename(_ keys: [SubmissionKey], _ pseudonyms: Pseudonyms) throws(PostgresFailure) {
        guard !keys.isEmpty else { return }
        try connection.run(
            PostgresStatement(
                """
                UPDATE operator_actions SET submission_id = n, reason = '\(FoundErasure.reason)'
                FROM unnest($1::text[], $2::text[], $3::text[]) AS given (s, a, n)
                WHERE \(HashedIndex.condition("submission_id", "s")) AND app = a
                """, each: keys, [.text, .text, .text]
            ) { key, row in
                row.submission(key)
                row.text(pseudonyms.of(key.submissionID))
            })
    }
}
