import Contract
import Ledger

/// Statements on `retries`, within one transaction.
struct RetryTable {
    let database: Database

    // MARK: Writing

    /// Adds a row, due after its delay; an existing one stays.
    func insert(_ new: NewRetry, partition: Int64, now: Timestamp) throws(StoreError) {
        try database.statement(Self.insertion).run {
            RetryColumns.write(new, partition: partition, now: now, to: &$0)
        }
    }

    private static let insertion = RetryColumns.written.insertion(into: "retries")

    /// Writes down that a leased row goes on waiting, and ends its lease.
    func update(_ update: RetryUpdate, now: Timestamp) throws(StoreError) {
        try database.statement(
            """
            UPDATE retries SET
                \(RetryColumns.changed.names.map { "\($0) = ?" }.joined(separator: ", ")), leased_until = NULL,
                takings = iif(?1 = '\(HoldCause.endsWorkers.rawValue)', takings, 0)
            WHERE digest = ? AND lease = ?
            """
        ).run {
            RetryColumns.write(update.entry, attempts: update.attempts, now: now, to: &$0)
            $0.lease(update.lease)
        }
    }

    func end(_ lease: RetryLease) throws(StoreError) {
        try database.statement("DELETE FROM retries WHERE digest = ? AND lease = ?").run { $0.lease(lease) }
    }

    // MARK: Leases

    func isOwned(_ lease: RetryLease) throws(StoreError) -> Bool {
        try database.statement("SELECT 1 FROM retries WHERE digest = ? AND lease = ?").hasRow { $0.lease(lease) }
    }

    /// Leases the due rows of one request: signed ones first, in the order in which they are due. Among held rows none
    /// goes first: they are taken early as well, and the signed ones would come again before the others' turn.
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

    /// Leases the longest due row that is suspect with its next taking; nil if there is none. A held row has no lease
    /// that could end.
    func takeSuspect(now: Timestamp) throws(StoreError) -> DueRetry? {
        let row = try rows(
            "\(RetryColumns.isSuspectNext) AND leased_until <= ? AND \(RetryColumns.isKnown)",
            "leased_until, retries.sequence LIMIT 1"
        ) { $0.time(now) }.first
        guard let row else { return nil }
        return try lease(row, now: now)
    }

    private func take(
        _ request: DueRequest, _ kind: String, most: Int, bytes: inout Int, now: Timestamp
    ) throws(StoreError) -> [DueRetry] {
        guard most > 0, bytes > 0 else { return [] }
        let endpoint = request.endpoint?.text
        // A row that another worker has is due at its lease's end, and not before the breaker closes.
        let condition = request.beforeDue ? "(leased_until IS NULL OR leased_until <= ?2)" : "due_at <= ?2"
        var left = bytes
        let rows = try database.statement(
            """
            \(RetryColumns.selection) WHERE \(kind) AND \(condition) AND \(RetryColumns.isKnown)
                AND NOT \(RetryColumns.isSuspectNext)
            ORDER BY due_at, retries.sequence LIMIT ?3
            """
        ).rows {
            $0.text(endpoint)
            $0.time(now)
            $0.integer(most)
        } until: { (row: RetryRow?) in
            left -= row?.submission.retainedBytes ?? 0
            return left <= 0
        } read: { row in
            RetryColumns.row(row)
        }
        bytes = left
        var taken: [DueRetry] = []
        for row in rows.compactMap({ $0 }) { taken.append(try lease(row, now: now)) }
        return taken
    }

    /// Takes a row, even from another lease.
    func lease(_ row: RetryRow, now: Timestamp) throws(StoreError) -> DueRetry {
        let number = try database.nextLease()
        let takings = try database.statement(
            """
            UPDATE retries SET lease = ?1, takings = takings + 1, leased_until = ?2, due_at = ?2
            WHERE digest = ?3 RETURNING takings
            """
        ).first {
            $0.integer(number)
            $0.time(now.advanced(by: .milliseconds(leaseMilliseconds)))
            $0.blob(row.key.bytes)
        } read: {
            $0.int(0)
        }
        return DueRetry(row, lease: number, takings: takings ?? 1)
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

    /// Rows whatever the evidence is.
    func waiting(from ranges: [OriginRange]) throws(StoreError) -> [WaitingRow] {
        var waiting: [WaitingRow] = []
        for range in ranges {
            waiting += try database.statement("\(RetryColumns.outline) WHERE \(OriginRange.condition)").rows {
                range.bind(to: &$0)
            } read: { row in
                RetryColumns.waiting(row)
            }.compactMap { $0 }
        }
        return try judged(waiting)
    }

    func waiting(_ keys: Set<RetryKey>) throws(StoreError) -> [RetryKey: WaitingRow] {
        var found: [RetryKey: WaitingRow] = [:]
        for key in keys { found[key] = try waiting(key) }
        return found
    }

    func waiting(_ key: RetryKey) throws(StoreError) -> WaitingRow? {
        let row: WaitingRow?? = try database.statement("\(RetryColumns.outline) WHERE digest = ?").first {
            $0.blob(key.bytes)
        } read: { row in
            RetryColumns.waiting(row)
        }
        return try judged([row ?? nil].compactMap { $0 }).first
    }

    private func judged(_ rows: [WaitingRow]) throws(StoreError) -> [WaitingRow] {
        guard !rows.isEmpty else { return [] }
        let keys = rows.map(\.pending.claimant.submissionKey)
        return WaitingRow.judged(
            rows, grants: try database.grants.found(of: keys),
            answers: try database.answers.found(of: keys))
    }

    func rows(of key: SubmissionKey) throws(StoreError) -> [RetryRow] {
        try rows("submission_id = ? AND app = ?") { $0.submission(key) }
    }

    /// As ``rows(of:)``, without evidence.
    func outlines(of key: SubmissionKey) throws(StoreError) -> [RetryRow] {
        try rows("submission_id = ? AND app = ?", of: RetryColumns.outline) { $0.submission(key) }
    }

    /// Makes rows that no worker has due at once.
    /// - Returns: How many they are; nil if the submission has no rows at all.
    func makeDue(_ key: SubmissionKey, now: Timestamp) throws(StoreError) -> Int? {
        let changed = try database.statement(
            "UPDATE retries SET due_at = ?, takings = 0 WHERE submission_id = ? AND app = ? AND leased_until IS NULL"
        ).run {
            $0.time(now)
            $0.submission(key)
        }
        guard changed == 0 else { return changed }
        return try outlines(of: key).isEmpty ? nil : 0
    }

    /// Rows that are retrying, or held.
    func page(_ query: SubmissionQuery) throws(StoreError) -> [SubmissionRow] {
        try database.page(
            RetryColumns.outline, of: "retries", before: query.before, limit: query.limit,
            [
                ("iif(endpoint IS NULL, 'held', 'retrying') = ?", query.state.rawValue),
                ("app = ?", query.bundleID?.rawValue), ("user_id = ?", query.userID?.rawValue),
                ("submission_id = ?", query.submissionID?.rawValue), ("order_id = ?", query.orderID?.rawValue),
                ("transaction_id = ?", query.transactionID?.rawValue), ("cause = ?", query.cause),
                ("instr(endpoint, ?) = 1", query.endpoint?.text),
                ("retries.sequence >= CAST(? AS INTEGER)", query.from.map { String($0) }),
            ], sequence: RetryColumns.sequence.index
        ) { row in RetryColumns.page(row, query.state) }
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
        var waiting = Waiting()
        let rows = try database.statement(Self.waitingByEndpoint).rows({ _ in }) { row in
            (row.optionalText(0), rows: row.int(1), last: row.optionalInteger(2), first: row.integer(3))
        }
        for (text, rows, last, first) in rows {
            let endpoint = text.flatMap { Endpoint(text: $0) }
            if text != nil, endpoint == nil { waiting.later += rows }
            waiting.byEndpoint.append(
                LedgerMeasure.Waiting(endpoint: endpoint, rows: rows, oldest: try received(first)))
            waiting.last = max(waiting.last ?? .min, last ?? .min)
        }
        waiting.later += try database.statement(
            "SELECT count(*) FROM retries INDEXED BY retries_later WHERE NOT \(RetryColumns.isKnown)"
        ).count()
        return waiting
    }

    static let waitingByEndpoint = """
        SELECT endpoint, count(*), max(due_at), min(sequence) FROM retries GROUP BY endpoint ORDER BY endpoint
        """

    /// When a row's record came. No index has it, so only a few rows are read.
    private func received(_ sequence: Int64) throws(StoreError) -> Timestamp? {
        try database.statement("SELECT received_at FROM retries WHERE sequence = ?")
            .first({ $0.integer(sequence) }) { $0.time(0) }
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
            "SELECT count(*) FROM retries WHERE submission_id = ? AND app = ? AND NOT \(RetryColumns.isKnown)"
        ).count { $0.submission(key) }
    }

    func held() throws(StoreError) -> [LedgerMeasure.Held] {
        let rows = try database.statement(Self.heldByDetail).rows({ _ in }) {
            (
                app: $0.identifier(0) as BundleID, cause: $0.text(1), detail: $0.text(2), rows: $0.int(3),
                first: $0.integer(4)
            )
        }
        var groups: [(app: BundleID, cause: String, detail: String, rows: Int, oldest: Timestamp?)] = []
        for row in rows { groups.append((row.app, row.cause, row.detail, row.rows, try received(row.first))) }
        return LedgerMeasure.Held.groups(groups)
    }

    static let heldByDetail = """
        SELECT app, cause, detail, count(*), min(sequence) FROM retries WHERE endpoint IS NULL
        GROUP BY app, cause, detail ORDER BY app, cause, detail
        """

    private func rows(
        _ condition: String, _ order: String = "retries.sequence", of selection: String = RetryColumns.selection,
        _ bind: (inout Binder) -> Void
    ) throws(StoreError) -> [RetryRow] {
        let sql = "\(selection) WHERE \(condition) ORDER BY \(order)"
        return try database.statement(sql).rows(bind) { row in RetryColumns.row(row) }.compactMap { $0 }
    }
}
