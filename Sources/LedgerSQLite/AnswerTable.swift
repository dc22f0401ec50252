import Contract
import Ledger

/// Statements on `answers`, within one transaction.
struct AnswerTable {
    let database: Database

    func answers(_ keys: [SubmissionKey]) throws(StoreError) -> FoundAnswers {
        var found = FoundAnswers()
        for key in keys {
            try find("answers.submission_id = ? AND answers.app = ?", into: &found) { $0.submission(key) }
        }
        return found
    }

    /// The answer of one submission; nil where there is none, or one that only a later version can read.
    func answer(_ key: SubmissionKey) throws(StoreError) -> Answer? { try answers([key]).known.first }

    func answers(from ranges: [OriginRange]) throws(StoreError) -> FoundAnswers {
        var found = FoundAnswers()
        for range in ranges { try find(OriginRange.condition, into: &found) { range.bind(to: &$0) } }
        return found
    }

    /// Adds an answer, or leaves the one that is there.
    func insert(_ new: NewAnswer, partition: Int64) throws(StoreError) {
        let claimant = new.answer.claimant
        if new.replaces {
            try database.statement("DELETE FROM answers WHERE submission_id = ? AND app = ?").run {
                $0.submission(claimant.submissionKey)
            }
        }
        try database.statement(
            """
            INSERT INTO answers (
                app, submission_id, user_id, order_id, traceparent, origin_partition, origin_offset, answered_at,
                environment, transaction_id, product_id, reason, detail, digest, attempts, format,
                passed_over)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
            """
        ).run {
            $0.claimant(claimant)
            $0.integer(partition)
            $0.integer(new.answer.origin.offset)
            switch new.answer {
            case .failed(let failure):
                $0.time(failure.failedAt)
                $0.null()
                $0.text(failure.transactionID)
                $0.text(failure.productID)
                $0.text(failure.reason)
                $0.text(failure.detail)
                $0.blob(failure.digest.bytes)
                $0.integer(failure.attempts)
                $0.integer(failure.format.rawValue)
                $0.null()
            case .repeated(let repeated):
                $0.time(repeated.answeredAt)
                $0.integer(repeated.grant.environment.column)
                $0.text(repeated.grant.transactionID)
                for _ in 0..<6 { $0.null() }
                $0.text(repeated.passedOver?.text)
            }
        }
    }

    /// Failures; repeats belong to the list of grants.
    func page(_ query: SubmissionQuery) throws(StoreError) -> [SubmissionRow] {
        try database.page(
            Self.selection, of: "answers", before: query.before, limit: query.limit,
            [
                ("iif(reason IS NULL, 'repeated', 'failed') = ?", query.state.rawValue),
                ("answers.app = ?", query.bundleID?.rawValue), ("user_id = ?", query.userID?.rawValue),
                ("reason = ?", query.cause),
            ]
        ) { (row) in
            // As people see it, any version can read it.
            SubmissionRow(
                sequence: row.integer(0), state: .failed, claimant: row.claimant(1), origin: row.origin(6),
                at: row.time(9), cause: row.optionalText(13), transactionID: row.optionalIdentifier(11),
                attempts: row.int(16), dueAt: nil)
        }
    }

    private static let selection = """
        SELECT answers.sequence, app, submission_id, user_id, order_id, traceparent, partitions.topic,
            partitions.partition, origin_offset, answered_at, environment, transaction_id, product_id, reason, detail,
            digest, attempts, format, passed_over
        FROM answers JOIN partitions ON partitions.number = answers.origin_partition
        """

    private func find(
        _ condition: String, into found: inout FoundAnswers, _ bind: (inout Binder) -> Void
    ) throws(StoreError) {
        let rows = try database.statement("\(Self.selection) WHERE \(condition)").rows(bind) { row in
            (Self.answer(row), row.claimant(1), row.origin(6))
        }
        for (answer, claimant, origin) in rows {
            if let answer { found.known.append(answer) } else { found.later.append(LaterRow(claimant, origin)) }
        }
    }

    /// Nil for a row that only a later version can read.
    private static func answer(_ row: Columns) -> Answer? {
        let claimant = row.claimant(1)
        let origin = row.origin(6)
        if let column = row.optionalInteger(10) {
            guard let environment = Environment(column: column) else { return nil }
            return .repeated(
                Repeat(
                    claimant: claimant,
                    grant: GrantReference(environment: environment, transactionID: row.identifier(11)),
                    origin: origin, answeredAt: row.time(9),
                    passedOver: row.optionalText(18).map { PassedOver(text: $0) }))
        }
        guard let digest = ClaimDigest(bytes: row.blob(15)), let format = EventFormat(rawValue: row.int(17)) else {
            return nil
        }
        return .failed(
            Failure(
                claimant: claimant, reason: row.text(13), detail: row.text(14),
                transactionID: row.optionalIdentifier(11), productID: row.optionalIdentifier(12),
                failedAt: row.time(9), attempts: row.int(16), digest: digest, origin: origin, format: format))
    }
}
