import Purchases

/// Statements on submissions that wait. A lease is a due time with a name: taking a submission moves its due time to the
/// end of the lease, so it comes due again by itself if its worker is heard of no more, and the look for what is due never
/// passes what is taken.
enum WaitingRows {
    // Evidence that is there already stays where it is: it is large, and stored aside, and nothing of it is written again.
    private static let putting = PostgresStatement(
        "put_waiting",
        """
        INSERT INTO waiting (sequence, due_at, doubt_since, claim)
        SELECT s.sequence, \(LeaseClock.sql("$1")) + n.delay, n.doubt_since, n.claim
        FROM unnest($2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::text[])
            AS n (bundle_id, submission_id, delay, doubt_since, claim)
        JOIN submissions s ON s.bundle_id = n.bundle_id AND s.submission_id = n.submission_id
        ON CONFLICT (sequence) DO UPDATE SET
            due_at = excluded.due_at, doubt_since = excluded.doubt_since, holder = NULL,
            claim = CASE WHEN waiting.claim = excluded.claim THEN waiting.claim ELSE excluded.claim END
        """)

    private static let removing = PostgresStatement(
        "remove_waiting",
        """
        DELETE FROM waiting USING submissions s, unnest($1::text[], $2::text[]) AS k (bundle_id, submission_id)
        WHERE s.bundle_id = k.bundle_id AND s.submission_id = k.submission_id AND waiting.sequence = s.sequence
        """)

    // By an array and not by a join, which the planner would make by reading all that waits while it takes that for little.
    static let taking = PostgresStatement(
        "take_due",
        """
        WITH clock AS MATERIALIZED (
            SELECT \(LeaseClock.sql("$1")) AS now
        ), due AS (
            SELECT sequence, due_at, octet_length(claim) AS bytes FROM waiting
            WHERE due_at <= (SELECT now FROM clock)
            ORDER BY due_at LIMIT $4::bigint FOR UPDATE SKIP LOCKED
        ), fitting AS (
            SELECT sequence, sum(bytes) OVER (ORDER BY due_at, sequence) - bytes AS before FROM due
        ), taken AS (
            UPDATE waiting w SET holder = $2::text, due_at = (SELECT now FROM clock) + $3::bigint
            WHERE w.sequence = ANY (
                ARRAY(SELECT sequence FROM fitting WHERE before < \(DueSubmission.maxTakenBytes)))
            RETURNING w.sequence, w.doubt_since, w.claim
        )
        SELECT s.bundle_id, s.submission_id, s.user_id, s.order_id, s.traceparent, s.fingerprint, s.outcome, s.reason,
            s.origin_topic, s.origin_partition, s.origin_offset, s.received_at, s.attempts, s.history, t.doubt_since,
            t.claim
        FROM taken t JOIN due ON due.sequence = t.sequence JOIN submissions s ON s.sequence = t.sequence
        ORDER BY due.due_at
        """)

    private static let keeping = PostgresStatement(
        "keep_due",
        """
        UPDATE waiting SET due_at = \(LeaseClock.sql("$1")) + $3::bigint
        FROM submissions s, unnest($4::text[], $5::text[]) AS k (bundle_id, submission_id)
        WHERE s.bundle_id = k.bundle_id AND s.submission_id = k.submission_id AND waiting.sequence = s.sequence
            AND waiting.holder = $2::text
        """)

    private static let givingBack = PostgresStatement(
        "give_back_due", "UPDATE waiting SET due_at = \(LeaseClock.sql("$1")), holder = NULL WHERE holder = $2::text")

    /// - Parameter now: from ``LeaseClock/moment(_:)``.
    static func put(_ rows: [BatchDecision.Row], _ now: PostgresValue) throws(PostgresFailure) -> PostgresCommand {
        var delays = PostgresColumn(.integer, count: rows.count)
        var doubts = PostgresColumn(.integer, count: rows.count)
        var claims = PostgresColumn(.text, count: rows.count)
        for row in rows {
            guard let waiting = row.content.waiting else { continue }
            delays.append(waiting.delay.wholeMilliseconds)
            doubts.append(waiting.doubtSince)
            claims.append(try stored { () throws(LedgerError) in try StoredClaim.text(of: waiting.submission) })
        }
        return PostgresCommand(
            putting, [now] + keys(rows.map(\.settlement.key)) + [delays.value, doubts.value, claims.value])
    }

    static func remove(_ keys: [SubmissionKey]) -> PostgresCommand {
        PostgresCommand(removing, Self.keys(keys))
    }

    static func take(
        _ worker: WorkerID, limit: Int, for lease: Duration, _ now: PostgresValue
    ) -> PostgresCommand {
        PostgresCommand(
            taking, [now, .text(worker.text), .integer(lease.wholeMilliseconds), .integer(Int64(limit))])
    }

    static func keep(
        _ worker: WorkerID, _ keys: [SubmissionKey], for lease: Duration, _ now: PostgresValue
    ) -> PostgresCommand {
        PostgresCommand(keeping, [now, .text(worker.text), .integer(lease.wholeMilliseconds)] + Self.keys(keys))
    }

    static func giveBack(_ worker: WorkerID, _ now: PostgresValue) -> PostgresCommand {
        PostgresCommand(givingBack, [now, .text(worker.text)])
    }

    static func makeDue(_ key: SubmissionKey, _ now: PostgresValue) -> PostgresCommand {
        PostgresCommand(
            PostgresStatement(
                once: """
                    UPDATE waiting SET due_at = \(LeaseClock.sql("$1")) WHERE holder IS NULL AND sequence = (
                        SELECT sequence FROM submissions WHERE bundle_id = $2::text AND submission_id = $3::text)
                    """), [now, .text(key.bundleID.rawValue), .text(key.submissionID.rawValue)])
    }

    /// Makes all due that wait for a cause, the oldest first, `gap` milliseconds apart; none later than it would be anyway.
    static func makeDue(
        _ cause: WaitingCause, bundleID: BundleID?, gap: Double, _ now: PostgresValue
    ) -> PostgresCommand {
        PostgresCommand(
            PostgresStatement(
                once: """
                    UPDATE waiting SET due_at = least(due_at, \(LeaseClock.sql("$1")) + place * $5::bigint / 1000)
                    FROM (
                        SELECT s.sequence AS number, row_number() OVER (ORDER BY s.sequence) - 1 AS place
                        FROM submissions s JOIN waiting w ON w.sequence = s.sequence
                        WHERE s.outcome IN ('parked', 'held') AND s.outcome = $2::text AND s.reason = $3::text
                            AND ($4::text IS NULL OR s.bundle_id = $4::text) AND w.holder IS NULL) AS chosen
                    WHERE sequence = number AND waiting.holder IS NULL
                    """),
            [
                now, .text(cause.outcome.rawValue), .text(cause.word), .text(bundleID?.rawValue),
                .integer(Int64(gap * 1000)),
            ])
    }

    static func state(of key: SubmissionKey) -> PostgresCommand {
        PostgresCommand(
            PostgresStatement(
                once: """
                    SELECT w.due_at, w.holder FROM waiting w JOIN submissions s ON s.sequence = w.sequence
                    WHERE s.bundle_id = $1::text AND s.submission_id = $2::text
                    """), [.text(key.bundleID.rawValue), .text(key.submissionID.rawValue)])
    }

    static func state(_ row: PostgresRow) throws(PostgresFailure) -> WaitingState {
        WaitingState(dueAt: try row.time(0), worker: row.optionalText(1).map { WorkerID($0) })
    }

    /// Reads no row, only indexes: rows are large, and there may be millions.
    static let counting = PostgresCommand(
        PostgresStatement(
            once: """
                SELECT outcome, reason, count(*), (SELECT min(due_at) FROM waiting)
                FROM submissions WHERE outcome IN ('parked', 'held') GROUP BY 1, 2 ORDER BY 1, 2
                """))

    /// What waits by cause, and when the first of it is due.
    static func counts(
        _ result: PostgresResult
    ) throws(PostgresFailure) -> ([WaitingCause: Int], firstDueAt: Timestamp?) {
        let rows = try result.rows { row throws(PostgresFailure) in
            (
                cause: try cause(try row.word(0), try row.text(1)), count: Int(try row.integer(2)),
                first: try row.optionalTime(3)
            )
        }
        // Two words of a newer version may mean the same cause here.
        return (Dictionary(rows.map { ($0.cause, $0.count) }, uniquingKeysWith: +), rows.first?.first)
    }

    static func due(_ row: PostgresRow) throws(PostgresFailure) -> DueSubmission {
        let claimant = Claimant(
            submissionID: SubmissionID(try row.text(1)), userID: UserID(try row.text(2)),
            bundleID: BundleID(try row.text(0)), orderID: row.optionalText(3).map { OrderID($0) },
            traceparent: row.optionalText(4))
        let claim = try row.text(15)
        return DueSubmission(
            // One row that cannot be read must not keep the others from being taken.
            submission: try? StoredClaim.submission(claim, of: claimant),
            claimant: claimant, fingerprint: try row.text(5),
            origin: Origin(
                topic: try row.text(8), partition: Int32(truncatingIfNeeded: try row.integer(9)),
                offset: try row.integer(10)),
            receivedAt: try row.time(11), attempts: Int(try row.integer(12)),
            history: try stored { () throws(LedgerError) in try StoredHistory.history(row.optionalText(13)) },
            cause: try cause(try row.word(6), try row.text(7)), doubtSince: try row.optionalTime(14))
    }

    private static func cause(_ outcome: RecordedOutcome, _ word: String) throws(PostgresFailure) -> WaitingCause {
        guard let cause = WaitingCause(outcome: outcome, word: word) else {
            throw .damaged("a submission that has its outcome waits")
        }
        return cause
    }

    private static func keys(_ keys: [SubmissionKey]) -> [PostgresValue] {
        [.texts(keys.map(\.bundleID.rawValue)), .texts(keys.map(\.submissionID.rawValue))]
    }
}
