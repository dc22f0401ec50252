public import Contract

/// The form of a row of `retries`, the same in every database: its submission, and behind it what attempts change.
public enum RetryColumns: Int32, RecordColumn {
    case digest, app, submissionID, userID, orderID, traceparent, originPartition, originOffset, receivedAt
    case transactionID, productID, accountToken, environment, submittedAt, bytes, evidenceKind, evidence, signed
    // Read beside those that are written.
    case sequence, leasedUntil, topic, partition

    /// The values that each attempt changes.
    public enum Attempted: Int32, TableColumn {
        case cause, endpoint, detail, dueAt, attempts, history, doubtAnswers, doubtElapsed, doubtSince

        public static let table = "retries"
        fileprivate static let values = allCases

        public var kind: WrittenColumns.Kind {
            switch self {
            case .cause, .endpoint, .detail, .history: .text
            case .dueAt, .attempts, .doubtAnswers, .doubtElapsed, .doubtSince: .integer
            }
        }

        public var index: Int32 { Int32(RetryColumns.allCases.count) + rawValue }
    }

    public static let table = "retries"
    private static let values = Array(allCases.prefix { $0 != .sequence })
    /// The columns that an attempt changes: the last ones of ``written``.
    public static let changed = WrittenColumns(Attempted.values)
    public static let written = WrittenColumns(values) + changed

    public var kind: WrittenColumns.Kind {
        switch self {
        case .app, .submissionID, .userID, .orderID, .traceparent, .transactionID, .productID, .accountToken,
            .environment, .evidenceKind, .topic:
            .text
        case .originPartition, .originOffset, .receivedAt, .submittedAt, .bytes, .signed, .sequence, .leasedUntil,
            .partition:
            .integer
        case .digest, .evidence: .blob
        }
    }

    /// Writes the values of ``written``.
    /// - Parameter partition: The number of its origin's row in `partitions`.
    public static func write(_ new: NewRetry, partition: Int64, now: Timestamp, to row: inout some RowWriter) {
        let submission = new.submission
        let claim = submission.claim
        for column in values {
            switch column {
            case .digest: row.blob(new.key.bytes)
            case .app: row.text(submission.bundleID)
            case .submissionID: row.text(submission.id)
            case .userID: row.text(submission.userID)
            case .orderID: row.text(submission.orderID)
            case .traceparent: row.text(submission.traceparent)
            case .originPartition: row.integer(partition)
            case .originOffset: row.integer(submission.origin.offset)
            case .receivedAt: row.time(submission.receivedAt)
            case .transactionID: row.text(claim.transactionID)
            case .productID: row.text(claim.productID)
            case .accountToken: row.text(claim.appAccountToken)
            case .environment: row.text(claim.environment?.rawValue)
            case .submittedAt: row.time(claim.submittedAt)
            case .bytes: row.integer(submission.retainedBytes)
            case .evidenceKind: row.text(submission.evidence.kind.rawValue)
            case .evidence: row.blob(submission.evidence.bytes)
            case .signed: row.integer(new.entry.isSigned ? 1 : 0)
            case .sequence, .leasedUntil, .topic, .partition: break
            }
        }
        write(new.entry, attempts: new.attempts, now: now, to: &row)
    }

    /// Writes the values of ``changed``.
    public static func write(_ entry: RetryEntry, attempts: Int, now: Timestamp, to row: inout some RowWriter) {
        for column in Attempted.values {
            switch column {
            case .cause: row.text(entry.cause.word)
            case .endpoint: row.text(entry.cause.endpoint?.text)
            case .detail: row.text(entry.detail)
            case .dueAt: row.time(now.advanced(by: .milliseconds(entry.delay)))
            case .attempts: row.integer(attempts)
            case .history: row.text(entry.history.text)
            case .doubtAnswers: row.integer(entry.doubt.map { Int64($0.replies) })
            case .doubtElapsed: row.integer(entry.doubt?.elapsed)
            case .doubtSince: row.time(entry.doubt?.runningSince)
            }
        }
    }

    /// As the index `retries_suspect` has it: a row that is suspect with its next taking.
    public static let isSuspectNext = "takings >= \(DueRetry.takingsOfSuspicion - 1)"

    /// A row that only a later version knows stays for that version's workers, and hides no others. The index
    /// `retries_later` has the rest.
    public static let isKnown = """
        (evidence_kind IN ('receipt', 'signedTransaction', 'transactionId')
            AND coalesce(environment, 'production') IN ('production', 'sandbox'))
        """

    /// The tables that ``selection`` and ``outline`` join to `retries`.
    public static let joins = "JOIN partitions ON partitions.number = retries.origin_partition"
    public static let selection = "SELECT \(selected), \(Attempted.selected) FROM retries \(joins)"

    /// As ``selection``, without evidence, for many rows at once: each may have megabytes of evidence.
    public static let outline = "SELECT \(outlined) FROM retries \(joins)"
    /// The columns of ``outline``.
    public static let outlined =
        allCases.map { $0 == .evidence ? "NULL" : $0.source }.joined(separator: ", ") + ", \(Attempted.selected)"

    /// A row as ``selection`` finds it, or without its evidence as ``outline`` does. Nil for evidence or an environment
    /// that only a later version knows, and for a digest that no version writes.
    public static func row(_ reader: some RowReader) -> RetryRow? {
        let row = TableRow(reader, Self.self)
        let attempted = TableRow(reader, Attempted.self)
        let environment: Environment? = row.word(.environment)
        guard let kind: Evidence.Kind = row.word(.evidenceKind),
            let digest = ClaimDigest(bytes: row.blob(.digest)), environment != nil || row.isNull(.environment)
        else { return nil }
        let claim = Claim(
            transactionID: row.optionalText(.transactionID).map { TransactionID(reading: $0) },
            productID: row.optionalIdentifier(.productID), appAccountToken: row.optionalText(.accountToken),
            environment: environment, submittedAt: row.optionalTime(.submittedAt))
        let submission = Submission(
            claimant: row.claimant, claim: claim, evidence: Evidence(kind, bytes: row.blob(.evidence)),
            origin: row.origin, receivedAt: row.time(.receivedAt))
        let doubt = attempted.optionalInteger(.doubtAnswers).map { replies in
            Doubt(
                replies: Int(replies), elapsed: attempted.integer(.doubtElapsed),
                runningSince: attempted.optionalTime(.doubtSince))
        }
        let endpoint = attempted.optionalText(.endpoint).flatMap { Endpoint(text: $0) }
        return RetryRow(
            key: digest, submission: submission,
            entry: RetryEntry(
                cause: WaitCause(word: attempted.text(.cause), endpoint: endpoint), detail: attempted.text(.detail),
                delay: 0, history: AttemptHistory(text: attempted.optionalText(.history)), doubt: doubt,
                isSigned: row.int(.signed) != 0, purchases: []),
            attempts: attempted.int(.attempts), dueAt: attempted.time(.dueAt), isLeased: !row.isNull(.leasedUntil))
    }

    /// A waiting or held row as people see it, as ``outline`` finds it; any version can read it.
    public static func page(_ reader: some RowReader, _ state: SubmissionState) -> SubmissionRow {
        let row = TableRow(reader, Self.self)
        let attempted = TableRow(reader, Attempted.self)
        return SubmissionRow(
            sequence: row.integer(.sequence), state: state, claimant: row.claimant, origin: row.origin,
            receivedAt: row.time(.receivedAt), cause: attempted.text(.cause), detail: attempted.text(.detail),
            transactionID: row.optionalText(.transactionID).map { TransactionID(reading: $0) },
            environment: row.word(.environment), productID: row.optionalIdentifier(.productID),
            attempts: attempted.int(.attempts),
            dueAt: attempted.time(.dueAt), isLeased: !row.isNull(.leasedUntil), isSigned: row.int(.signed) != 0,
            owable: ClaimDigest(bytes: row.blob(.digest)).map { [.pending($0)] } ?? [])
    }

    /// As ``selection``, for an audit: without evidence, and a page of it may be large.
    public static let auditedSelection =
        "SELECT \([sequence, app, submissionID].map(\.source).joined(separator: ", ")) FROM retries"

    /// A row as ``auditedSelection`` finds it; any version can read it.
    public static func audited(_ row: some RowReader) -> AuditedRow {
        AuditedRow(
            sequence: row.integer(0),
            content: .waiting(SubmissionKey(bundleID: row.identifier(1), submissionID: row.identifier(2))))
    }

    /// A row as ``outline`` finds it, whatever the evidence is; nil for a digest that no version writes.
    public static func waiting(_ reader: some RowReader) -> WaitingRow? {
        let row = TableRow(reader, Self.self)
        let attempted = TableRow(reader, Attempted.self)
        guard let key = ClaimDigest(bytes: row.blob(.digest)) else { return nil }
        let history = AttemptHistory(text: attempted.optionalText(.history))
        return WaitingRow(
            key: key, origin: row.origin,
            pending: PendingSubmission(
                row.claimant, attempted.isNull(.endpoint) ? .held : .retrying, cause: attempted.text(.cause),
                attempts: attempted.int(.attempts), receivedAt: row.time(.receivedAt),
                latest: history.attempts.last?.at, dueAt: attempted.time(.dueAt)))
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
    /// Groups the rows of a query for app, cause, detail, their number and oldest record, ordered by the first three.
    public static func groups(
        _ rows: [(app: BundleID, cause: String, detail: String, rows: Int, oldest: Timestamp?)]
    ) -> [Self] {
        var held: [Self] = []
        var details: [String: Int] = [:]
        var oldest: Timestamp?
        for (index, row) in rows.enumerated() {
            details[row.detail] = row.rows
            oldest = [oldest, row.oldest].compactMap(\.self).min()
            if index + 1 < rows.count, rows[index + 1].app == row.app, rows[index + 1].cause == row.cause { continue }
            held.append(
                Self(row.app, HoldCause(rawValue: row.cause) ?? .unknownAnswer, details: details, oldest: oldest))
            (details, oldest) = ([:], nil)
        }
        return held
    }
}
