import Contract
import Ledger

/// Statements on `answers`, within one transaction.
struct AnswerTable {
    let database: Database

    func found(of keys: [SubmissionKey]) throws(StoreError) -> FoundAnswers {
        var found = FoundAnswers()
        for key in keys {
            try find("answers.submission_id = ? AND answers.app = ?", into: &found) { $0.submission(key) }
        }
        return found
    }

    func found(from ranges: [OriginRange]) throws(StoreError) -> FoundAnswers {
        var found = FoundAnswers()
        for range in ranges { try find(OriginRange.condition, into: &found) { range.bind(to: &$0) } }
        return found
    }

    /// Adds an answer; an existing one stays.
    /// - Returns: Whether it is new.
    func insert(_ new: NewAnswer, partition: Int64) throws(StoreError) -> Bool {
        if new.replaces {
            try database.statement("DELETE FROM answers WHERE submission_id = ? AND app = ?").run {
                $0.submission(new.answer.claimant.submissionKey)
            }
        }
        let rows = try database.statement(Self.insertion).run {
            AnswerColumns.write(new.answer, partition: partition, to: &$0)
        }
        return rows > 0
    }

    private static let insertion = AnswerColumns.written.insertion(into: "answers")

    // MARK: Retention

    /// Rows of some places that may go. An owed event of a failure is made from its row, so such a row stays. By the
    /// answer of a submission that operators have acted on, an erasure finds the actions.
    private static let isOld = """
        sequence BETWEEN ? AND ? AND answered_at < ? AND NOT EXISTS (SELECT 1 FROM outbox WHERE outbox.key =
            'failed:' || length(CAST(answers.app AS BLOB)) || ':' || answers.app || ':' || answers.submission_id)
            AND NOT EXISTS (SELECT 1 FROM operator_actions AS action
                WHERE action.submission_id = answers.submission_id AND action.app = answers.app)
        """

    func count(_ places: ClosedRange<Int64>, before: Timestamp) throws(StoreError) -> Int {
        try database.statement("SELECT count(*) FROM answers WHERE \(Self.isOld)").count {
            Self.bind(places, before, to: &$0)
        }
    }

    func delete(_ places: ClosedRange<Int64>, before: Timestamp) throws(StoreError) -> Int {
        try database.statement("DELETE FROM answers WHERE \(Self.isOld)").run { Self.bind(places, before, to: &$0) }
    }

    func hasFailure(_ key: SubmissionKey) throws(StoreError) -> Bool {
        try database.statement(
            "SELECT 1 FROM answers WHERE submission_id = ? AND app = ? AND reason IS NOT NULL"
        ).hasRow { $0.submission(key) }
    }

    private static func bind(_ places: ClosedRange<Int64>, _ before: Timestamp, to values: inout Binder) {
        values.integer(places.lowerBound)
        values.integer(places.upperBound)
        values.time(before)
    }

    func delete(_ sequences: [Int64]) throws(StoreError) {
        for sequence in sequences {
            try database.statement("DELETE FROM answers WHERE sequence = ?").run { $0.integer(sequence) }
        }
    }

    /// Failures, or repeats.
    func page(_ query: SubmissionQuery) throws(StoreError) -> [SubmissionRow] {
        try database.page(
            AnswerColumns.selection, of: "answers", before: query.before, limit: query.limit,
            [
                ("iif(reason IS NULL, 'repeated', 'failed') = ?", query.state.rawValue),
                ("answers.app = ?", query.bundleID?.rawValue), ("user_id = ?", query.userID?.rawValue),
                ("submission_id = ?", query.submissionID?.rawValue), ("order_id = ?", query.orderID?.rawValue),
                ("transaction_id = ?", query.transactionID?.rawValue), ("reason = ?", query.cause),
                ("answers.sequence >= CAST(? AS INTEGER)", query.from.map { String($0) }),
            ], sequence: AnswerColumns.sequence.index
        ) { row in AnswerColumns.page(row) }
    }

    private func find(
        _ condition: String, into found: inout FoundAnswers, _ bind: (inout Binder) -> Void
    ) throws(StoreError) {
        try database.statement("\(AnswerColumns.selection) WHERE \(condition)").each(bind) {
            AnswerColumns.add($0, to: &found)
        }
    }
}
