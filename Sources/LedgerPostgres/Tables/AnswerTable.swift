import Contract
import Ledger

/// Statements on `answers`, within one transaction.
struct AnswerTable {
    let connection: PostgresConnection

    func found(of keys: [SubmissionKey]) throws(PostgresFailure) -> FoundAnswers {
        keys.isEmpty ? FoundAnswers() : try connection.ask(all(of: keys))
    }

    /// The answers to some submissions.
    func all(of keys: [SubmissionKey]) -> PostgresQuestion<FoundAnswers> {
        let statement = PostgresStatement(
            """
            SELECT \(AnswerColumns.shown) FROM unnest($1::text[], $2::text[]) AS asked (a, b)
            JOIN answers ON answers.submission_id = a AND answers.app = b \(AnswerColumns.joins)
            """, each: keys, [.text, .text]
        ) { $1.submission($0) }
        return PostgresQuestion(statement) { Self.found([$0]) }
    }

    func found(from ranges: [OriginRange]) throws(PostgresFailure) -> FoundAnswers {
        Self.found(try connection.run(ranges.map { $0.statement("\(AnswerColumns.selection) WHERE") }))
    }

    private static func found(_ results: [PostgresResult]) -> FoundAnswers {
        var found = FoundAnswers()
        for result in results {
            for row in result.rows { AnswerColumns.add(row, to: &found) }
        }
        return found
    }

    /// Adds answers in the order of their keys; existing ones stay.
    /// - Returns: Whether each is new.
    func insert(_ answers: [NewAnswer], partitions: [TopicPartition: Int64]) throws(PostgresFailure) -> [Bool] {
        guard !answers.isEmpty else { return [] }
        var statements = [
            PostgresStatement(
                "\(Self.insertion) RETURNING submission_id, app",
                each: answers.sorted { $0.answer.claimant.submissionKey < $1.answer.claimant.submissionKey },
                AnswerColumns.written.elements
            ) { new, row in
                let partition = partitions[new.answer.origin.topicPartition] ?? 0
                AnswerColumns.write(new.answer, partition: partition, to: &row)
            }
        ]
        let replacing = answers.filter(\.replaces)
        if !replacing.isEmpty {
            let removal = PostgresStatement(Self.removal, each: replacing, [.text, .text]) {
                $1.submission($0.answer.claimant.submissionKey)
            }
            statements.insert(removal, at: 0)
        }
        guard let result = try connection.run(statements).last else { return answers.map { _ in false } }
        let new = Set(result.rows.map { SubmissionKey(bundleID: $0.identifier(1), submissionID: $0.identifier(0)) })
        return answers.map { new.contains($0.answer.claimant.submissionKey) }
    }

    private static let insertion = AnswerColumns.written.insertion(into: "answers", key: "submission_id, app")

    /// Removes repeats alone: a failure that another session has written there meanwhile stays, and the new answer is
    /// refused.
    private static let removal = """
        DELETE FROM answers USING unnest($1::text[], $2::text[]) AS gone (s, a)
        WHERE submission_id = s AND app = a AND environment IS NOT NULL
        """

    // MARK: Retention

    /// Failures whose event the outbox owes: it is made from the row.
    private static let isOwed = """
        EXISTS (SELECT 1 FROM outbox WHERE outbox.key =
            'failed:' || octet_length(answers.app)::text || ':' || answers.app || ':' || answers.submission_id)
        """

    /// Answers of submissions that operators have acted on: by them an erasure finds the actions. Each row is looked up
    /// by the index, which OFFSET keeps: all actions would be read at each step else.
    private static let isActedOn = """
        EXISTS (
            SELECT 1 FROM operator_actions AS action
            WHERE \(HashedIndex.condition("action.submission_id", "answers.submission_id")) AND action.app = answers.app
            OFFSET 0)
        """

    /// Rows of some places that may go.
    private static let isOld = """
        sequence BETWEEN $1::bigint AND $2::bigint AND answered_at < $3::bigint AND NOT \(isOwed) AND NOT \(isActedOn)
        """

    func count(_ places: ClosedRange<Int64>, before: Timestamp) throws(PostgresFailure) -> Int {
        try connection.run(old("SELECT count(*) FROM answers", places, before)).first?.int(0) ?? 0
    }

    func delete(_ places: ClosedRange<Int64>, before: Timestamp) throws(PostgresFailure) -> Int {
        // The deletion looks at the outbox after it has the lock, so it sees every event owed until then.
        let lock = PostgresStatement("SELECT pg_advisory_xact_lock(\(Self.ageLock))")
        return try connection.run([lock, old("DELETE FROM answers", places, before)]).last?.affected ?? 0
    }

    /// The lock between sessions that delete failures for their age and sessions that owe a failure's event. Rows
    /// cannot be locked for it: workers have no right to update answers.
    private static let ageLock = 7_305_434_120_911

    /// The failures among some submissions. None of them is deleted for its age before the transaction ends.
    func failures(among keys: [SubmissionKey]) throws(PostgresFailure) -> Set<SubmissionKey> {
        guard !keys.isEmpty else { return [] }
        let statement = PostgresStatement(
            """
            SELECT answers.submission_id, answers.app FROM unnest($1::text[], $2::text[]) AS asked (a, b)
            JOIN answers ON answers.submission_id = a AND answers.app = b WHERE reason IS NOT NULL
            """, each: keys, [.text, .text]
        ) { $1.submission($0) }
        let lock = PostgresStatement("SELECT pg_advisory_xact_lock_shared(\(Self.ageLock))")
        let result = try connection.run([lock, statement]).last
        return Set(
            (result?.rows.map { SubmissionKey(bundleID: $0.identifier(1), submissionID: $0.identifier(0)) }) ?? [])
    }

    private func old(_ verb: String, _ places: ClosedRange<Int64>, _ before: Timestamp) -> PostgresStatement {
        PostgresStatement("\(verb) WHERE \(Self.isOld)") {
            $0.integer(places.lowerBound)
            $0.integer(places.upperBound)
            $0.time(before)
        }
    }

    func delete(_ sequences: [Int64]) throws(PostgresFailure) {
        guard !sequences.isEmpty else { return }
        try connection.run(
            PostgresStatement("DELETE FROM answers WHERE sequence = ANY($1::bigint[])", each: sequences, [.integer]) {
                $1.integer($0)
            })
    }

    /// Failures, or repeats. Both share a statement where an id is looked for.
    func page(_ query: SubmissionQuery) -> ListPage<SubmissionRow> {
        let namesAnID = query.namesAnID
        return ListPage(
            AnswerColumns.selection, of: "answers",
            where: namesAnID ? "TRUE" : "reason IS \(query.state == .failed ? "NOT NULL" : "NULL")",
            before: query.before, limit: query.limit,
            [
                (
                    "CASE WHEN reason IS NULL THEN 'repeated' ELSE 'failed' END = ?",
                    namesAnID ? query.state.rawValue : nil
                ),
                ("answers.app = ?", query.bundleID?.rawValue),
                (HashedIndex.condition("user_id", "?"), query.userID?.rawValue),
                ("submission_id = ?", query.submissionID?.rawValue),
                (HashedIndex.condition("order_id", "?"), query.orderID?.rawValue),
                (HashedIndex.condition("transaction_id", "?"), query.transactionID?.rawValue),
                ("reason = ?", query.cause), ("answers.sequence >= ?::bigint", query.from.map { String($0) }),
            ], plan: query.plan, sequence: AnswerColumns.sequence.index
        ) { row in AnswerColumns.page(row) }
    }
}
