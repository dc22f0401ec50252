import Contract

/// The form of a row of `answers`, the same in every database.
public enum AnswerColumns {
    public static let written = WrittenColumns([
        "app": .text, "submission_id": .text, "user_id": .text, "order_id": .text, "traceparent": .text,
        "origin_partition": .integer, "origin_offset": .integer, "answered_at": .integer, "environment": .integer,
        "transaction_id": .text, "product_id": .text, "reason": .text, "detail": .text, "digest": .blob,
        "attempts": .integer, "format": .integer, "passed_over": .text,
    ])

    /// Writes the values of ``written``.
    /// - Parameter partition: The number of its origin's row in `partitions`.
    public static func write(_ answer: Answer, partition: Int64, to row: inout some RowWriter) {
        row.claimant(answer.claimant)
        row.integer(partition)
        row.integer(answer.origin.offset)
        switch answer {
        case .failed(let failure):
            row.time(failure.failedAt)
            row.null()
            row.text(failure.transactionID)
            row.text(failure.productID)
            row.text(failure.reason)
            row.text(failure.detail)
            row.blob(failure.digest.bytes)
            row.integer(failure.attempts)
            row.integer(failure.format.rawValue)
            row.null()
        case .repeated(let repeated):
            row.time(repeated.answeredAt)
            row.integer(repeated.grant.environment.column)
            row.text(repeated.grant.transactionID)
            for _ in 0..<6 { row.null() }
            row.text(repeated.passedOver?.text)
        }
    }

    /// Columns of a query for answers and what they are joined with.
    public static let shown = """
        answers.sequence, app, submission_id, user_id, order_id, traceparent, partitions.topic, partitions.partition,
        origin_offset, answered_at, environment, transaction_id, product_id, reason, detail, digest, attempts, format,
        passed_over
        """

    public static let joins = "JOIN partitions ON partitions.number = answers.origin_partition"

    public static let selection = "SELECT \(shown) FROM answers \(joins)"

    /// Adds a row as ``selection`` finds it to those that were found before.
    public static func add(_ row: some RowReader, to found: inout FoundAnswers) {
        if let answer = answer(row) {
            found.known.append(answer)
        } else {
            found.later.append(LaterRow(row.claimant(1), row.origin(6)))
        }
    }

    /// A failure as people see it; any version can read it.
    public static func page(_ row: some RowReader) -> SubmissionRow {
        SubmissionRow(
            sequence: row.integer(0), state: .failed, claimant: row.claimant(1), origin: row.origin(6),
            at: row.time(9), cause: row.optionalText(13), transactionID: row.optionalIdentifier(11),
            attempts: row.int(16), dueAt: nil)
    }

    /// Nil for a row that only a later version can read.
    private static func answer(_ row: some RowReader) -> Answer? {
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
