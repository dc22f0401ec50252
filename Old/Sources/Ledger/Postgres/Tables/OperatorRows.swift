import Purchases

/// Statements on what people did.
enum OperatorRows {
    /// - Parameter key: nil for something done to many.
    static func add(
        _ kind: OperatorAction.Kind, _ note: OperatorNote, key: SubmissionKey?, cause: WaitingCause?, count: Int,
        now: Timestamp
    ) -> PostgresCommand {
        PostgresCommand(
            PostgresStatement(
                once: """
                    INSERT INTO operator_actions (
                        done_at, kind, actor, reason, bundle_id, submission_id, outcome, cause, submissions)
                    VALUES (
                        $1::bigint, $2::text, $3::text, $4::text, $5::text, $6::text, $7::text, $8::text, $9::bigint)
                    """),
            [
                .time(now), .text(kind.rawValue), .text(note.actor), .text(note.reason), .text(key?.bundleID.rawValue),
                .text(key?.submissionID.rawValue), .text(cause?.outcome.rawValue), .text(cause?.word),
                .integer(Int64(count)),
            ])
    }

    static func actions(on key: SubmissionKey) -> PostgresCommand {
        PostgresCommand(
            PostgresStatement(
                once: """
                    SELECT done_at, kind, actor, reason, submissions FROM operator_actions
                    WHERE bundle_id = $1::text AND submission_id = $2::text ORDER BY sequence
                    """), [.text(key.bundleID.rawValue), .text(key.submissionID.rawValue)])
    }

    static func action(_ row: PostgresRow) throws(PostgresFailure) -> OperatorAction {
        OperatorAction(
            at: try row.time(0), kind: try row.word(1),
            note: OperatorNote(actor: try row.text(2), reason: try row.text(3)), count: Int(try row.integer(4)))
    }
}
