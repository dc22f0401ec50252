public import Contract

/// The form of a row of `retries`, the same in every database.
public enum RetryColumns {
    public static let written = WrittenColumns([
        "digest": .blob, "app": .text, "submission_id": .text, "user_id": .text, "order_id": .text,
        "traceparent": .text, "origin_partition": .integer, "origin_offset": .integer, "received_at": .integer,
        "transaction_id": .text, "product_id": .text, "account_token": .text, "environment": .text,
        "submitted_at": .integer, "bytes": .integer, "evidence_kind": .text, "evidence": .blob, "signed": .integer,
        "cause": .text, "endpoint": .text, "detail": .text, "due_at": .integer, "attempts": .integer,
        "history": .text, "doubt_answers": .integer, "doubt_elapsed": .integer, "doubt_since": .integer,
    ])

    /// Those that an attempt changes: the last ones of ``written``.
    public static let changed = WrittenColumns([
        "cause": .text, "endpoint": .text, "detail": .text, "due_at": .integer, "attempts": .integer,
        "history": .text, "doubt_answers": .integer, "doubt_elapsed": .integer, "doubt_since": .integer,
    ])

    /// Writes the values of ``written``.
    /// - Parameter partition: The number of its origin's row in `partitions`.
    public static func write(_ new: NewRetry, partition: Int64, now: Timestamp, to row: inout some RowWriter) {
        let submission = new.submission
        let claim = submission.claim
        row.blob(new.key.bytes)
        row.claimant(submission.claimant)
        row.integer(partition)
        row.integer(submission.origin.offset)
        row.time(submission.receivedAt)
        row.text(claim.transactionID)
        row.text(claim.productID)
        row.text(claim.appAccountToken)
        row.text(claim.environment?.rawValue)
        row.time(claim.submittedAt)
        row.integer(submission.retainedBytes)
        row.text(submission.evidence.kind)
        row.blob(submission.evidence.bytes)
        row.integer(new.entry.isSigned ? 1 : 0)
        write(new.entry, attempts: new.attempts, now: now, to: &row)
    }

    /// Writes the values of ``changed``.
    public static func write(_ entry: RetryEntry, attempts: Int, now: Timestamp, to row: inout some RowWriter) {
        row.text(entry.cause.word)
        row.text(entry.cause.endpoint?.text)
        row.text(entry.detail)
        row.time(now.advanced(by: .milliseconds(entry.delay)))
        row.integer(attempts)
        row.text(entry.history.text)
        row.integer(entry.doubt.map { Int64($0.answers) })
        row.integer(entry.doubt?.elapsed)
        row.time(entry.doubt?.runningSince)
    }

    /// As the index `retries_suspect` has it: a row that is suspect with its next taking.
    public static let isSuspectNext = "takings >= \(DueRetry.takingsOfSuspicion - 1)"

    /// A row that only a later version knows stays for that version's workers, and hides no other. The index
    /// `retries_later` has the rest.
    public static let isKnown = """
        (evidence_kind IN ('receipt', 'signedTransaction', 'transactionId')
            AND coalesce(environment, 'production') IN ('production', 'sandbox'))
        """

    public static let selection = """
        SELECT digest, app, submission_id, user_id, order_id, traceparent, partitions.topic, partitions.partition,
            origin_offset, received_at, transaction_id, product_id, account_token, environment, submitted_at, endpoint,
            cause, detail, due_at, leased_until, attempts, history, doubt_answers, doubt_elapsed, doubt_since,
            evidence_kind, evidence, retries.sequence, signed
        FROM retries JOIN partitions ON partitions.number = retries.origin_partition
        """

    /// A row as ``selection`` finds it; nil for evidence or an environment that only a later version knows, and for a
    /// digest that no version writes.
    public static func row(_ row: some RowReader) -> RetryRow? {
        let environment: Environment? = row.word(13)
        guard let evidence = Evidence(kind: row.text(25), bytes: row.blob(26)),
            let digest = ClaimDigest(bytes: row.blob(0)), environment != nil || row.isNull(13)
        else { return nil }
        let claim = Claim(
            transactionID: row.optionalText(10).map { TransactionID(reading: $0) },
            productID: row.optionalIdentifier(11),
            appAccountToken: row.optionalText(12),
            environment: environment, submittedAt: row.optionalTime(14))
        let submission = Submission(
            claimant: row.claimant(1), claim: claim, evidence: evidence, origin: row.origin(6), receivedAt: row.time(9))
        let doubt = row.optionalInteger(22).map { answers in
            Doubt(answers: Int(answers), elapsed: row.integer(23), runningSince: row.optionalTime(24))
        }
        return RetryRow(
            key: digest, submission: submission,
            entry: RetryEntry(
                cause: WaitCause(word: row.text(16), endpoint: row.optionalText(15).flatMap { Endpoint(text: $0) }),
                detail: row.text(17), delay: 0, history: AttemptHistory(text: row.optionalText(21)), doubt: doubt,
                isSigned: row.int(28) != 0), attempts: row.int(20), dueAt: row.time(18), isLeased: !row.isNull(19))
    }

    /// A waiting or held row as people see it; any version can read it.
    public static func page(_ row: some RowReader, _ state: SubmissionState) -> SubmissionRow {
        SubmissionRow(
            sequence: row.integer(27), state: state, claimant: row.claimant(1), origin: row.origin(6),
            at: row.time(9), cause: row.text(16), transactionID: row.optionalIdentifier(10), attempts: row.int(20),
            dueAt: row.time(18))
    }
}

extension DueRetry {
    /// A row that was taken.
    public init(_ row: RetryRow, lease number: Int64, takings: Int) {
        self.init(
            lease: RetryLease(key: row.key, number: number), submission: row.submission, attempts: row.attempts,
            cause: row.entry.cause, history: row.entry.history, doubt: row.entry.doubt, takings: takings)
    }
}

extension LedgerMeasure.Held {
    /// Groups the rows of a query for app, cause, detail and their number, ordered by these.
    public static func groups(_ rows: [(app: BundleID, cause: String, detail: String, rows: Int)]) -> [Self] {
        var held: [Self] = []
        var details: [String: Int] = [:]
        for (index, row) in rows.enumerated() {
            details[row.detail] = row.rows
            if index + 1 < rows.count, rows[index + 1].app == row.app, rows[index + 1].cause == row.cause { continue }
            held.append(Self(row.app, HoldCause(rawValue: row.cause) ?? .unknownAnswer, details: details))
            details = [:]
        }
        return held
    }
}
