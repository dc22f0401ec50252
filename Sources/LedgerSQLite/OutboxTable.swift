import Contract
import Ledger

/// Statements on `outbox`, within one transaction.
struct OutboxTable {
    let database: Database

    /// Adds a row; an existing one stays. If a worker is publishing a waiting submission's row, the row is published
    /// anew, because it has another content now. That worker's report finds no row under its lease.
    func insert(_ new: NewOutboxRow, now: Timestamp) throws(StoreError) {
        try database.statement(Self.insertion).run { OutboxColumns.write(new, now: now, to: &$0) }
        guard case .pending = new.key else { return }
        let number = try database.nextLease()
        try database.statement(
            """
            UPDATE outbox SET lease = ?1, leased_until = NULL, due_at = ?2, owed_since = ?2
            WHERE key = ?3 AND leased_until IS NOT NULL
            """
        ).run {
            $0.integer(number)
            $0.time(now)
            $0.text(new.key.text)
        }
    }

    private static let insertion = OutboxColumns.written.insertion(into: "outbox")

    /// Leases the due rows of one request, in the order in which they are due.
    ///
    /// A row may refer to one that is a later version's or gone, and cannot be rendered. It counts as tried, because
    /// else it would stay in front of all others. The event of a submission that no longer waits is owed no more.
    func take(_ request: OutboxRequest, now: Timestamp) throws(StoreError) -> [OutboxItem] {
        let dueAgain = now.advanced(by: .milliseconds(leaseMilliseconds))
        var items: [OutboxItem] = []
        var putOff = 0
        while items.count < request.limit, putOff < OutboxColumns.mostPutOff {
            let asked = OutboxColumns.portion(left: request.limit - items.count, putOff: putOff)
            let rows = try due(request.target, limit: asked, now: now)
            for row in rows {
                // Rows behind the last that is wanted stay as they are.
                guard items.count < request.limit, putOff < OutboxColumns.mostPutOff else { break }
                if let work = try work(row), let item = row.item(work, lease: try database.nextLease()) {
                    try database.statement(
                        "UPDATE outbox SET lease = ?1, leased_until = ?2, due_at = ?2 WHERE sequence = ?3"
                    ).run {
                        $0.integer(item.lease.number)
                        $0.time(dueAgain)
                        $0.integer(row.sequence)
                    }
                    items.append(item)
                } else if try isOver(row) {
                    putOff += 1
                    try database.statement("DELETE FROM outbox WHERE sequence = ?").run { $0.integer(row.sequence) }
                } else {
                    putOff += 1
                    try database.statement(
                        """
                        UPDATE outbox SET due_at = ?1, leased_until = NULL, attempts = attempts + 1 WHERE sequence = ?2
                        """
                    ).run {
                        $0.time(dueAgain)
                        $0.integer(row.sequence)
                    }
                }
            }
            guard rows.count == asked else { break }
        }
        return items
    }

    private func due(_ target: OutboxTarget, limit: Int, now: Timestamp) throws(StoreError) -> [DueOutboxRow] {
        try database.statement(
            """
            SELECT \(OutboxColumns.shown) FROM outbox
            WHERE target = ? AND due_at <= ? AND \(OutboxColumns.isKnown) ORDER BY due_at, sequence LIMIT ?
            """
        ).rows {
            $0.text(target.text)
            $0.time(now)
            $0.integer(limit)
        } read: { row in
            DueOutboxRow(row)
        }
    }

    /// Of a row that cannot be rendered.
    private func isOver(_ row: DueOutboxRow) throws(StoreError) -> Bool {
        let grant = try grant(of: row)
        guard let failure = row.failure else { return row.isOver(grant: grant, isAnswered: false, isWaiting: false) }
        let answers = try database.answers.found(of: [failure])
        return row.isOver(grant: grant, isAnswered: !answers.known.isEmpty || !answers.later.isEmpty, isWaiting: false)
    }

    private func grant(of row: DueOutboxRow) throws(StoreError) -> Grant? {
        guard let reference = row.grant else { return nil }
        return try database.grants.holders([HolderQuestion(reference)]).known.first?.grant
    }

    private func work(_ row: DueOutboxRow) throws(StoreError) -> OutboxItem.Work? {
        let grant = try grant(of: row)
        var answer: Answer?
        if let failure = row.failure { answer = try database.answers.found(of: [failure]).known.first }
        let pending = try row.waiting.flatMap { (key) throws(StoreError) in
            try database.retries.waiting(key)
        }
        return row.work(grant: grant, answer: answer, pending: pending)
    }

    func report(_ report: OutboxReport, now: Timestamp) throws(StoreError) {
        switch report {
        case .published(let lease):
            try database.statement("DELETE FROM outbox WHERE key = ? AND step = ? AND lease = ?").run {
                $0.lease(lease)
            }
        case .called(let lease):
            try database.statement(
                """
                UPDATE outbox SET step = 'publish', target = ?4, due_at = ?5, owed_since = ?5, leased_until = NULL,
                    attempts = 0, reason = NULL
                WHERE key = ?1 AND step = ?2 AND lease = ?3
                """
            ).run {
                $0.lease(lease)
                $0.text(lease.key.target.text)
                $0.time(now)
            }
        case .postponed(let lease, let delay, let tried):
            try database.statement(
                """
                UPDATE outbox SET due_at = ?4, leased_until = NULL, attempts = attempts + ?5,
                    reason = coalesce(?6, reason)
                WHERE key = ?1 AND step = ?2 AND lease = ?3
                """
            ).run {
                $0.lease(lease)
                $0.time(now.advanced(by: .milliseconds(delay)))
                $0.integer(tried.attempts)
                $0.text(tried.reason)
            }
        }
    }

    func giveBack(_ lease: OutboxLease, now: Timestamp) throws(StoreError) {
        try database.statement(
            """
            UPDATE outbox SET leased_until = NULL, due_at = ?4
            WHERE key = ?1 AND step = ?2 AND lease = ?3 AND leased_until IS NOT NULL
            """
        ).run {
            $0.lease(lease)
            $0.time(now)
        }
    }

    struct Size {
        var rows = 0
        /// ``LedgerMeasure/outboxAge``.
        var age: Int64 = 0
        var later = 0
        /// The latest due time.
        var last: Int64?
    }

    func size(now: Timestamp) throws(StoreError) -> Size {
        let sql = """
            SELECT count(*), min(iif(step = 'call', NULL, owed_since)), max(due_at),
                total(NOT (\(OutboxColumns.isShown))) FROM outbox
            """
        let size = try database.statement(sql).first({ _ in }) { row in
            Size(
                rows: row.int(0), age: max(0, now.milliseconds - (row.optionalInteger(1) ?? now.milliseconds)),
                later: row.int(3), last: row.optionalInteger(2))
        }
        return size ?? Size()
    }

    /// ``LedgerMeasure/calls``.
    func calls() throws(StoreError) -> [LedgerMeasure.Calls] {
        let sql = """
            SELECT target, count(*), total(\(ServiceAnswer.isRefusalInSQL)),
                min(iif(\(ServiceAnswer.isRefusalInSQL), NULL, owed_since)) FROM outbox
            WHERE step = 'call' GROUP BY target ORDER BY target
            """
        return try database.statement(sql).rows({ _ in }) { row in
            OutboxTarget(text: row.text(0)).flatMap { target in
                LedgerMeasure.Calls(
                    of: target, rows: row.int(1), refused: row.int(2), oldest: row.optionalInteger(3))
            }
        }.compactMap { $0 }
    }

    /// Makes rows that are due later than a moment due then.
    func cap(at moment: Timestamp) throws(StoreError) {
        try database.statement(
            """
            UPDATE outbox SET due_at = ?1, leased_until = iif(leased_until IS NULL, NULL, ?1) WHERE due_at > ?1
            """
        ).run { $0.time(moment) }
    }

    func page(limit: Int) throws(StoreError) -> [OutboxRow] {
        try rows("WHERE \(OutboxColumns.isShown) ORDER BY due_at, sequence LIMIT ?") { $0.integer(limit) }
    }

    /// Rows that only a later version can read.
    func later() throws(StoreError) -> Int {
        try database.statement("SELECT count(*) FROM outbox WHERE NOT (\(OutboxColumns.isShown))").count()
    }

    func rows(_ keys: [OutboxKey]) throws(StoreError) -> [OutboxRow] {
        var found: [OutboxRow] = []
        for key in keys { found += try rows("WHERE key = ?") { $0.text(key.text) } }
        return found
    }

    private func rows(_ condition: String, _ bind: (inout Binder) -> Void) throws(StoreError) -> [OutboxRow] {
        try database.statement("SELECT \(OutboxColumns.shown) FROM outbox \(condition)").rows(bind) { row in
            OutboxColumns.row(row)
        }.compactMap { $0 }
    }
}
