import Contract
import Ledger

/// Statements on `retries`, within one transaction.
struct RetryTable {
    let database: Database

    // MARK: Writing

    /// Adds a row, due after its delay, or leaves the one that is there.
    func insert(_ new: NewRetry, partition: Int64, now: Timestamp) throws(StoreError) {
        let submission = new.submission
        let claim = submission.claim
        try database.statement(
            """
            INSERT INTO retries (
                digest, app, submission_id, user_id, order_id, traceparent, origin_partition, origin_offset, received_at,
                transaction_id, product_id, account_token, environment, submitted_at, bytes, evidence_kind, evidence, signed,
                cause, endpoint, detail, due_at, attempts, history, doubt_answers, doubt_elapsed, doubt_since)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT DO NOTHING
            """
        ).run {
            $0.blob(new.key.bytes)
            $0.claimant(submission.claimant)
            $0.integer(partition)
            $0.integer(submission.origin.offset)
            $0.time(submission.receivedAt)
            $0.text(claim.transactionID)
            $0.text(claim.productID)
            $0.text(claim.appAccountToken)
            $0.text(claim.environment?.rawValue)
            $0.time(claim.submittedAt)
            $0.integer(submission.retainedBytes)
            $0.text(submission.evidence.kind)
            $0.blob(submission.evidence.bytes)
            $0.integer(new.entry.isSigned ? 1 : 0)
            Self.bind(new.entry, attempts: new.attempts, now: now, to: &$0)
        }
    }

    /// Writes down that a leased row goes on waiting, and ends its lease.
    func update(_ update: RetryUpdate, now: Timestamp) throws(StoreError) {
        try database.statement(
            """
            UPDATE retries SET
                cause = ?, endpoint = ?, detail = ?, due_at = ?, attempts = ?, history = ?, doubt_answers = ?,
                doubt_elapsed = ?, doubt_since = ?, leased_until = NULL,
                takings = iif(?1 = '\(HoldCause.endsWorkers.rawValue)', takings, 0)
            WHERE digest = ? AND lease = ?
            """
        ).run {
            Self.bind(update.entry, attempts: update.attempts, now: now, to: &$0)
            $0.lease(update.lease)
        }
    }

    private static func bind(_ entry: RetryEntry, attempts: Int, now: Timestamp, to row: inout Binder) {
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

    func end(_ lease: RetryLease) throws(StoreError) {
        try database.statement("DELETE FROM retries WHERE digest = ? AND lease = ?").run { $0.lease(lease) }
    }

    // MARK: Leases

    func isOwned(_ lease: RetryLease) throws(StoreError) -> Bool {
        try database.statement("SELECT 1 FROM retries WHERE digest = ? AND lease = ?").hasRow { $0.lease(lease) }
    }

    /// Leases the due rows of one request: signed ones first, in the order in which they are due. Of held rows none goes
    /// first. They are taken before they are due as well, and the signed ones would come again before the others' turn.
    /// - Parameter bytes: How many more are taken; the row that reaches it is still taken.
    func take(_ request: DueRequest, bytes: inout Int, now: Timestamp) throws(StoreError) -> [DueRetry] {
        guard request.endpoint != nil else {
            return try take(request, Self.isHeld, most: request.limit, bytes: &bytes, now: now)
        }
        let signed = try take(request, Self.waits(isSigned: true), most: request.limit, bytes: &bytes, now: now)
        let most = request.limit - signed.count
        return try signed + take(request, Self.waits(isSigned: false), most: most, bytes: &bytes, now: now)
    }

    private static let isHeld = "endpoint IS NULL"
    private static func waits(isSigned: Bool) -> String { "endpoint = ?1 AND signed = \(isSigned ? 1 : 0)" }

    /// Leases the row that is suspect with its next taking and due for longest; nil if there is none. One that is held
    /// has no lease that could end.
    func takeSuspect(now: Timestamp) throws(StoreError) -> DueRetry? {
        let row = try rows(
            "\(Self.isSuspectNext) AND leased_until <= ? AND \(Self.isKnown)", "leased_until, retries.sequence LIMIT 1"
        ) { $0.time(now) }.first
        guard let row else { return nil }
        return try lease(row, now: now)
    }

    /// As the index `retries_suspect` has it.
    private static let isSuspectNext = "takings >= \(DueRetry.takingsOfSuspicion - 1)"
    /// A row that only a later version knows stays for that version's workers, and hides no other. The index
    /// `retries_later` has the rest.
    private static let isKnown = """
        (evidence_kind IN ('receipt', 'signedTransaction', 'transactionId')
            AND coalesce(environment, 'production') IN ('production', 'sandbox'))
        """

    private func take(
        _ request: DueRequest, _ kind: String, most: Int, bytes: inout Int, now: Timestamp
    ) throws(StoreError) -> [DueRetry] {
        guard most > 0, bytes > 0 else { return [] }
        let endpoint = request.endpoint?.text
        // A row that another worker has is due at its lease's end, and not before the breaker's closing.
        let condition = request.beforeDue ? "(leased_until IS NULL OR leased_until <= ?2)" : "due_at <= ?2"
        var left = bytes
        let rows = try database.statement(
            """
            \(Self.selection) WHERE \(kind) AND \(condition) AND \(Self.isKnown)
                AND NOT \(Self.isSuspectNext)
            ORDER BY due_at, retries.sequence LIMIT ?3
            """
        ).rows {
            $0.text(endpoint)
            $0.time(now)
            $0.integer(most)
        } until: { (row: RetryRow?) in
            left -= row?.submission.retainedBytes ?? 0
            return left <= 0
        } read: { (row) throws(StoreError) in
            try Self.row(row)
        }
        bytes = left
        var taken: [DueRetry] = []
        for row in rows.compactMap({ $0 }) { taken.append(try lease(row, now: now)) }
        return taken
    }

    /// Takes a row, even from another lease.
    func lease(_ row: RetryRow, now: Timestamp) throws(StoreError) -> DueRetry {
        let taken = try database.statement(
            """
            UPDATE retries SET lease = lease + 1, takings = takings + 1, leased_until = ?1, due_at = ?1
            WHERE digest = ?2 RETURNING lease, takings
            """
        ).first {
            $0.time(now.advanced(by: .milliseconds(leaseMilliseconds)))
            $0.blob(row.key.bytes)
        } read: {
            (lease: $0.integer(0), takings: $0.int(1))
        }
        return DueRetry(
            lease: RetryLease(key: row.key, number: taken?.lease ?? 0), submission: row.submission,
            attempts: row.attempts, cause: row.entry.cause, history: row.entry.history, doubt: row.entry.doubt,
            takings: taken?.takings ?? 1)
    }

    func renew(_ renewal: LeaseRenewal, now: Timestamp) throws(StoreError) -> Bool {
        try database.statement(
            """
            UPDATE retries SET leased_until = ?1, due_at = ?1, takings = ?2
            WHERE digest = ?3 AND lease = ?4 AND leased_until IS NOT NULL
            """
        ).run {
            $0.time(now.advanced(by: .milliseconds(leaseMilliseconds)))
            $0.integer(renewal.takings)
            $0.lease(renewal.lease)
        } > 0
    }

    func giveBack(_ lease: RetryLease, now: Timestamp) throws(StoreError) {
        try database.statement(
            """
            UPDATE retries SET leased_until = NULL, due_at = ?, takings = 0
            WHERE digest = ? AND lease = ? AND leased_until IS NOT NULL
            """
        ).run {
            $0.time(now)
            $0.lease(lease)
        }
    }

    // MARK: Reading

    /// The claimant of a waiting row, whatever the evidence is.
    func waiting(from ranges: [OriginRange]) throws(StoreError) -> [(Origin, Claimant)] {
        var waiting: [(Origin, Claimant)] = []
        for range in ranges {
            waiting += try database.statement("\(Self.selection) WHERE \(OriginRange.condition)").rows {
                range.bind(to: &$0)
            } read: { row in
                (row.origin(6), row.claimant(1))
            }
        }
        return waiting
    }

    func rows(of key: SubmissionKey) throws(StoreError) -> [RetryRow] {
        try rows("submission_id = ? AND app = ?") { $0.submission(key) }
    }

    /// Makes rows that no worker has due at once.
    func makeDue(_ key: SubmissionKey, now: Timestamp) throws(StoreError) -> Int {
        let count = try rows(of: key).count
        try database.statement(
            "UPDATE retries SET due_at = ?, takings = 0 WHERE submission_id = ? AND app = ? AND leased_until IS NULL"
        ).run {
            $0.time(now)
            $0.submission(key)
        }
        return count
    }

    /// Rows that are retrying, or held.
    func page(_ query: SubmissionQuery) throws(StoreError) -> [SubmissionRow] {
        try database.page(
            Self.selection, of: "retries", before: query.before, limit: query.limit,
            [
                ("iif(endpoint IS NULL, 'held', 'retrying') = ?", query.state.rawValue),
                ("app = ?", query.bundleID?.rawValue), ("user_id = ?", query.userID?.rawValue),
                ("cause = ?", query.cause),
            ], sequence: 27
        ) { row in
            // As people see it, any version can read it.
            SubmissionRow(
                sequence: row.integer(27), state: query.state, claimant: row.claimant(1), origin: row.origin(6),
                at: row.time(9), cause: row.text(16), transactionID: row.optionalIdentifier(10), attempts: row.int(20),
                dueAt: row.time(18))
        }
    }

    func sizes() throws(StoreError) -> [LedgerMeasure.App] {
        let sql = "SELECT app, count(*), sum(bytes) FROM retries GROUP BY app ORDER BY app"
        return try database.statement(sql).rows({ _ in }) {
            LedgerMeasure.App(bundleID: $0.identifier(0), rows: $0.int(1), bytes: $0.integer(2))
        }
    }

    struct Waiting {
        var byEndpoint: [LedgerMeasure.Waiting] = []
        var later = 0
        /// The latest due time.
        var last: Int64?
    }

    func waiting() throws(StoreError) -> Waiting {
        let sql = "SELECT endpoint, count(*), max(due_at) FROM retries GROUP BY endpoint ORDER BY endpoint"
        var waiting = Waiting()
        let rows = try database.statement(sql).rows({ _ in }) { row in
            (row.optionalText(0), rows: row.int(1), last: row.optionalInteger(2))
        }
        for (text, rows, last) in rows {
            let endpoint = text.flatMap { Endpoint(text: $0) }
            if text != nil, endpoint == nil { waiting.later += rows }
            waiting.byEndpoint.append(LedgerMeasure.Waiting(endpoint: endpoint, rows: rows))
            waiting.last = max(waiting.last ?? .min, last ?? .min)
        }
        waiting.later += Int(
            try database.number("SELECT count(*) FROM retries INDEXED BY retries_later WHERE NOT \(Self.isKnown)"))
        return waiting
    }

    /// Makes rows that are due, or whose lease ends, later than a moment due then.
    func cap(at moment: Timestamp) throws(StoreError) {
        try database.statement(
            """
            UPDATE retries SET due_at = ?1, leased_until = iif(leased_until IS NULL, NULL, ?1) WHERE due_at > ?1
            """
        ).run { $0.time(moment) }
    }

    /// Rows of a submission that only a later version can read.
    func later(of key: SubmissionKey) throws(StoreError) -> Int {
        try database.statement(
            "SELECT 1 FROM retries WHERE submission_id = ? AND app = ? AND NOT \(Self.isKnown)"
        ).rows {
            $0.submission(key)
        } read: { _ in
            ()
        }.count
    }

    func held() throws(StoreError) -> [LedgerMeasure.Held] {
        let rows: [(app: BundleID, cause: String, detail: String, rows: Int)] =
            try database.statement(Self.heldByDetail).rows({ _ in }) {
                ($0.identifier(0), $0.text(1), $0.text(2), $0.int(3))
            }
        var held: [LedgerMeasure.Held] = []
        var details: [String: Int] = [:]
        for (index, row) in rows.enumerated() {
            details[row.detail] = row.rows
            if index + 1 < rows.count, rows[index + 1].app == row.app, rows[index + 1].cause == row.cause { continue }
            held.append(
                LedgerMeasure.Held(row.app, HoldCause(rawValue: row.cause) ?? .unknownAnswer, details: details))
            details = [:]
        }
        return held
    }

    static let heldByDetail = """
        SELECT app, cause, detail, count(*) FROM retries WHERE endpoint IS NULL GROUP BY app, cause, detail
        ORDER BY app, cause, detail
        """

    private static let selection = """
        SELECT digest, app, submission_id, user_id, order_id, traceparent, partitions.topic, partitions.partition,
            origin_offset, received_at, transaction_id, product_id, account_token, environment, submitted_at, endpoint,
            cause, detail, due_at, leased_until, attempts, history, doubt_answers, doubt_elapsed, doubt_since,
            evidence_kind, evidence, retries.sequence, signed
        FROM retries JOIN partitions ON partitions.number = retries.origin_partition
        """

    private func rows(
        _ condition: String, _ order: String = "retries.sequence", _ bind: (inout Binder) -> Void
    ) throws(StoreError) -> [RetryRow] {
        let sql = "\(Self.selection) WHERE \(condition) ORDER BY \(order)"
        return try database.statement(sql).rows(bind) { (row) throws(StoreError) in try Self.row(row) }
            .compactMap { $0 }
    }

    /// Nil for evidence or an environment that only a later version knows.
    private static func row(_ row: Columns) throws(StoreError) -> RetryRow? {
        let environment: Environment? = row.word(13)
        guard let evidence = Evidence(kind: row.text(25), bytes: row.blob(26)),
            environment != nil || row.isNull(13)
        else { return nil }
        guard let digest = ClaimDigest(bytes: row.blob(0)) else {
            throw .contradiction("a row of retries has no digest")
        }
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
}
