import GRDB
import Purchases

/// Statements on submissions that wait, within one database access.
///
/// A lease is a due time with a name: taking a submission moves its due time to the end of the lease, so it comes due again
/// by itself if its worker is heard of no more, and the look for what is due never passes what is taken.
struct WaitingTable {
    let database: Database

    /// Keeps what another try of a submission needs; its row must be there.
    func put(_ waiting: Waiting, of key: SubmissionKey, now: Timestamp) throws {
        let claim = try StoredClaim.text(of: waiting.submission)
        let statement = try PreparedStatement(
            """
            INSERT INTO waiting (sequence, due_at, doubt_since, claim)
            SELECT sequence, ?3, ?4, ?5 FROM submissions WHERE bundle_id = ?1 AND submission_id = ?2
            ON CONFLICT (sequence) DO UPDATE SET
                due_at = excluded.due_at, doubt_since = excluded.doubt_since, claim = excluded.claim, holder = NULL
            """, on: database)
        try statement.run {
            $0.text(key.bundleID.rawValue)
            $0.text(key.submissionID.rawValue)
            $0.time(now.advanced(by: waiting.delay))
            $0.time(waiting.doubtSince)
            $0.text(claim)
        }
    }

    /// Ends a submission's stay, if it waits.
    func remove(_ key: SubmissionKey) throws {
        let statement = try PreparedStatement(
            """
            DELETE FROM waiting
            WHERE sequence = (SELECT sequence FROM submissions WHERE bundle_id = ? AND submission_id = ?)
            """, on: database)
        try statement.run {
            $0.text(key.bundleID.rawValue)
            $0.text(key.submissionID.rawValue)
        }
    }

    /// Whether anything is due.
    func hasDue(_ now: Timestamp) throws -> Bool {
        try !PreparedStatement(Self.hasDue, on: database).rows({ $0.time(now) }, read: { _ in true }).isEmpty
    }

    /// Takes what is due, until the bytes of its claims are enough.
    func take(_ worker: WorkerID, limit: Int, until end: Timestamp, now: Timestamp) throws -> [DueSubmission] {
        let due = try PreparedStatement(Self.due, on: database).rows({
            $0.time(now)
            $0.integer(Int64(limit))
        }) { $0.integer(0) }
        let lease = try PreparedStatement(
            "UPDATE waiting SET holder = ?2, due_at = ?3 WHERE sequence = ?1", on: database)
        let read = try PreparedStatement(Self.submission, on: database)
        var taken: [DueSubmission] = []
        var bytes = 0
        for sequence in due where bytes < DueSubmission.maxTakenBytes {
            try lease.run {
                $0.integer(sequence)
                $0.text(worker.text)
                $0.time(end)
            }
            taken += try read.rows({ $0.integer(sequence) }) { row in
                bytes += row.byteCount(15)
                return try Self.row(row)
            }
        }
        return taken
    }

    /// Moves the end of a worker's leases.
    func keep(_ worker: WorkerID, _ keys: [SubmissionKey], until end: Timestamp) throws {
        let statement = try PreparedStatement(
            """
            UPDATE waiting SET due_at = ?2 WHERE holder = ?1
                AND sequence = (SELECT sequence FROM submissions WHERE bundle_id = ?3 AND submission_id = ?4)
            """, on: database)
        for key in keys {
            try statement.run {
                $0.text(worker.text)
                $0.time(end)
                $0.text(key.bundleID.rawValue)
                $0.text(key.submissionID.rawValue)
            }
        }
    }

    /// Ends all of a worker's leases.
    func giveBack(_ worker: WorkerID, now: Timestamp) throws {
        try PreparedStatement("UPDATE waiting SET due_at = ?2, holder = NULL WHERE holder = ?1", on: database).run {
            $0.text(worker.text)
            $0.time(now)
        }
    }

    /// Makes a submission due unless a worker is trying it.
    ///
    /// - Returns: whether that was so.
    func makeDue(_ key: SubmissionKey, now: Timestamp) throws -> Bool {
        let statement = try PreparedStatement(
            """
            UPDATE waiting SET due_at = ?3 WHERE holder IS NULL
                AND sequence = (SELECT sequence FROM submissions WHERE bundle_id = ?1 AND submission_id = ?2)
            """, on: database)
        return try statement.run {
            $0.text(key.bundleID.rawValue)
            $0.text(key.submissionID.rawValue)
            $0.time(now)
        } > 0
    }

    /// Makes all due that wait for a cause, the oldest first, `gap` milliseconds apart; none later than it would be anyway.
    func makeDue(_ cause: WaitingCause, bundleID: BundleID?, gap: Double, now: Timestamp) throws -> Int {
        let statement = try PreparedStatement(
            """
            UPDATE waiting SET due_at = min(due_at, ?4 + CAST(place * ?5 / 1000 AS INTEGER))
            FROM (
                SELECT s.sequence AS number, row_number() OVER (ORDER BY s.sequence) - 1 AS place
                FROM submissions s JOIN waiting w ON w.sequence = s.sequence
                WHERE s.outcome IN ('parked', 'held') AND s.outcome = ?1 AND s.reason = ?2
                    AND (?3 IS NULL OR s.bundle_id = ?3) AND w.holder IS NULL)
            WHERE sequence = number
            """, on: database)
        return try statement.run {
            $0.text(cause.outcome.rawValue)
            $0.text(cause.word)
            $0.text(bundleID?.rawValue)
            $0.time(now)
            // Whole microseconds: SQLite is given integers only.
            $0.integer(Int64(gap * 1000))
        }
    }

    func state(of key: SubmissionKey) throws -> WaitingState? {
        let statement = try PreparedStatement(
            """
            SELECT w.due_at, w.holder FROM waiting w JOIN submissions s ON s.sequence = w.sequence
            WHERE s.bundle_id = ? AND s.submission_id = ?
            """, on: database)
        return try statement.rows {
            $0.text(key.bundleID.rawValue)
            $0.text(key.submissionID.rawValue)
        } read: { row in
            WaitingState(dueAt: row.time(0), worker: row.optionalText(1).map { WorkerID($0) })
        }.first
    }

    /// What waits by cause, and when the first of it is due.
    func counts() throws -> ([WaitingCause: Int], firstDueAt: Timestamp?) {
        let rows = try PreparedStatement(Self.counting, on: database).rows({ _ in }) { row in
            let cause = try Self.cause(try row.word(0), row.text(1))
            return (cause: cause, count: Int(row.integer(2)), first: row.optionalTime(3))
        }
        // Two words of a newer version may mean the same cause here.
        return (Dictionary(rows.map { ($0.cause, $0.count) }, uniquingKeysWith: +), rows.first?.first)
    }

    /// Reads no row, only indexes: rows are large, and there may be millions.
    static let counting = """
        SELECT outcome, reason, count(*), (SELECT min(due_at) FROM waiting)
        FROM submissions WHERE outcome IN ('parked', 'held') GROUP BY 1, 2 ORDER BY 1, 2
        """

    static let hasDue = "SELECT 1 FROM waiting WHERE due_at <= ? LIMIT 1"

    static let due = "SELECT sequence FROM waiting WHERE due_at <= ? ORDER BY due_at LIMIT ?"

    private static let submission = """
        SELECT s.bundle_id, s.submission_id, s.user_id, s.order_id, s.traceparent, s.fingerprint, s.outcome, s.reason,
            s.origin_topic, s.origin_partition, s.origin_offset, s.received_at, s.attempts, s.history, w.doubt_since,
            w.claim
        FROM waiting w JOIN submissions s ON s.sequence = w.sequence WHERE w.sequence = ?
        """

    private static func row(_ row: Columns) throws -> DueSubmission {
        let claimant = Claimant(
            submissionID: SubmissionID(row.text(1)), userID: UserID(row.text(2)), bundleID: BundleID(row.text(0)),
            orderID: row.optionalText(3).map { OrderID($0) }, traceparent: row.optionalText(4))
        return DueSubmission(
            // One row that cannot be read must not keep the others from being taken.
            submission: try? StoredClaim.submission(row.text(15), of: claimant), claimant: claimant,
            fingerprint: row.text(5),
            origin: Origin(
                topic: row.text(8), partition: Int32(truncatingIfNeeded: row.integer(9)), offset: row.integer(10)),
            receivedAt: row.time(11), attempts: Int(row.integer(12)),
            history: try StoredHistory.history(row.optionalText(13)), cause: try cause(try row.word(6), row.text(7)),
            doubtSince: row.optionalTime(14))
    }

    private static func cause(_ outcome: RecordedOutcome, _ word: String) throws(LedgerError) -> WaitingCause {
        guard let cause = WaitingCause(outcome: outcome, word: word) else {
            throw .damaged("a submission that has its outcome waits")
        }
        return cause
    }
}
