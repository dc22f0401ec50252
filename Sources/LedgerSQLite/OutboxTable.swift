import Contract
import Cryptography
import Ledger

/// Statements on `outbox`, within one transaction.
struct OutboxTable {
    let database: Database

    /// Adds a row that is due at once, or leaves the one that is there.
    func insert(_ new: NewOutboxRow, now: Timestamp) throws(StoreError) {
        try insert(new.key, new.step, new.target, dueAt: now, stub: nil)
    }

    /// Adds a row that is due after its delay, or leaves the one that is there.
    func insert(_ entry: OutboxEntry, now: Timestamp) throws(StoreError) {
        try insert(
            entry.key, .publish, entry.key.target, dueAt: now.advanced(by: .milliseconds(entry.delay)), stub: entry.stub
        )
    }

    /// Adds a stub that is due at once, or leaves the one that is there.
    func insert(_ stub: QuarantineStub, now: Timestamp) throws(StoreError) {
        try insert(stub.outboxKey, .publish, stub.outboxKey.target, dueAt: now, stub: stub)
    }

    private func insert(
        _ key: OutboxKey, _ step: OutboxStep, _ target: OutboxTarget, dueAt: Timestamp, stub: QuarantineStub?
    ) throws(StoreError) {
        try database.statement(
            """
            INSERT INTO outbox (key, step, target, due_at, reason, record_time, digest, size)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
            """
        ).run {
            $0.text(key.text)
            $0.text(step.rawValue)
            $0.text(target.text)
            $0.time(dueAt)
            $0.text(stub?.reason)
            $0.time(stub?.timestamp)
            if let stub { $0.blob(stub.digest.bytes) } else { $0.null() }
            $0.integer(stub.map { Int64($0.size) })
        }
    }

    /// Most rows of one request that are put off because this version cannot render them.
    private static let mostPutOff = 10_000
    /// Rows whose key and step this version knows; those of a later version stay for its workers, and hide no other.
    private static let isKnown = """
        step IN ('call', 'publish') AND (key GLOB 'granted:production:*' OR key GLOB 'granted:sandbox:*'
            OR key GLOB 'failed:*' OR key GLOB 'quarantined:*')
        """
    private static let isOfKnownTarget = """
        (target GLOB 'service:*' OR target IN (\(Topic.allCases.map { "'topic:\($0.rawValue)'" }.joined(separator: ", "))))
        """

    private struct Due {
        let sequence: Int64
        let lease: OutboxLease?
        let attempts: Int
        let stub: QuarantineStub?
    }

    /// Leases the due rows of one request, in the order in which they are due.
    ///
    /// A row may refer to one that is a later version's or gone, and cannot be rendered. It counts as tried, because it
    /// would stay in front of all others.
    func take(_ request: OutboxRequest, now: Timestamp) throws(StoreError) -> [OutboxItem] {
        let dueAgain = now.advanced(by: .milliseconds(leaseMilliseconds))
        var items: [OutboxItem] = []
        var putOff = 0
        while items.count < request.limit, putOff < Self.mostPutOff {
            let asked = request.limit - items.count
            let rows = try due(request.target, limit: asked, now: now)
            for row in rows {
                if let lease = row.lease, let work = try work(lease, row.stub) {
                    try database.statement(
                        "UPDATE outbox SET lease = ?1, leased_until = ?2, due_at = ?2 WHERE sequence = ?3"
                    ).run {
                        $0.integer(lease.number)
                        $0.time(dueAgain)
                        $0.integer(row.sequence)
                    }
                    items.append(OutboxItem(lease: lease, attempts: row.attempts, work: work))
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

    private func due(_ target: OutboxTarget, limit: Int, now: Timestamp) throws(StoreError) -> [Due] {
        try database.statement(
            """
            SELECT key, step, lease, attempts, reason, record_time, digest, size, sequence FROM outbox
            WHERE target = ? AND due_at <= ? AND \(Self.isKnown) ORDER BY due_at, sequence LIMIT ?
            """
        ).rows {
            $0.text(target.text)
            $0.time(now)
            $0.integer(limit)
        } read: { row in
            let key = OutboxKey(text: row.text(0))
            let step = OutboxStep(rawValue: row.text(1))
            return Due(
                sequence: row.integer(8),
                lease: key.flatMap { key in
                    step.map { OutboxLease(key: key, step: $0, number: row.integer(2) + 1) }
                }, attempts: row.int(3), stub: key.flatMap { Self.stub(row, key: $0) })
        }
    }

    private static func stub(_ row: Columns, key: OutboxKey) -> QuarantineStub? {
        guard case .quarantined(let origin, _) = key, let digest = SHA256Digest(bytes: row.blob(6)) else { return nil }
        return QuarantineStub(
            origin: origin, reason: row.text(4), timestamp: row.time(5), digest: digest, size: row.int(7))
    }

    /// The input of a row's step. Nil if the row that it refers to does not exist, or is a later version's.
    private func work(_ lease: OutboxLease, _ stub: QuarantineStub?) throws(StoreError) -> OutboxItem.Work? {
        switch (lease.key, lease.step) {
        case (.granted(let reference, _), .call): return try grant(reference).map { .call($0) }
        case (.granted(let reference, let submission), .publish):
            return try grant(reference).map { .publish(GrantedEvent.event(of: $0, repeatOf: submission)) }
        case (.failed(let app, let submission), _):
            let key = SubmissionKey(bundleID: app, submissionID: submission)
            guard case .failed(let failure) = try AnswerTable(database: database).answer(key) else { return nil }
            return .publish(FailedEvent.event(of: failure))
        case (.quarantined, _): return stub.map { .publish(QuarantinedEvent.event(of: $0)) }
        }
    }

    private func grant(_ reference: GrantReference) throws(StoreError) -> Grant? {
        try GrantTable(database: database).holders([HolderQuestion(reference)]).known.first?.grant
    }

    func report(_ report: OutboxReport, now: Timestamp) throws(StoreError) {
        switch report {
        case .published(let lease):
            try database.statement("DELETE FROM outbox WHERE key = ? AND step = ? AND lease = ?").run {
                Self.bind(lease, to: &$0)
            }
        case .called(let lease):
            try database.statement(
                """
                UPDATE outbox SET step = 'publish', target = ?4, due_at = ?5, leased_until = NULL, attempts = 0
                WHERE key = ?1 AND step = ?2 AND lease = ?3
                """
            ).run {
                Self.bind(lease, to: &$0)
                $0.text(lease.key.target.text)
                $0.time(now)
            }
        case .postponed(let lease, let delay):
            try database.statement(
                """
                UPDATE outbox SET due_at = ?4, leased_until = NULL, attempts = attempts + 1
                WHERE key = ?1 AND step = ?2 AND lease = ?3
                """
            ).run {
                Self.bind(lease, to: &$0)
                $0.time(now.advanced(by: .milliseconds(delay)))
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
            Self.bind(lease, to: &$0)
            $0.time(now)
        }
    }

    private static func bind(_ lease: OutboxLease, to row: inout Binder) {
        row.text(lease.key.text)
        row.text(lease.step.rawValue)
        row.integer(lease.number)
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
            SELECT count(*), min(due_at - attempts * \(LedgerMeasure.outboxTry)), max(due_at),
                total(NOT (\(Self.isKnown) AND \(Self.isOfKnownTarget))) FROM outbox
            """
        let size = try database.statement(sql).first({ _ in }) { row in
            Size(
                rows: row.int(0), age: max(0, now.milliseconds - (row.optionalInteger(1) ?? now.milliseconds)),
                later: row.int(3), last: row.optionalInteger(2))
        }
        return size ?? Size()
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
        try rows("ORDER BY due_at, sequence LIMIT ?") { $0.integer(limit) }
    }

    /// Rows of a submission's own event, of its grants and of the copies that it asked for.
    func rows(of key: SubmissionKey, grants: [Grant], answer: Answer?) throws(StoreError) -> [OutboxRow] {
        var keys: [OutboxKey] = grants.map { .granted($0.reference, repeatOf: nil) }
        keys.append(.failed(key.bundleID, key.submissionID))
        if case .repeated(let repeated) = answer {
            keys.append(.granted(repeated.grant, repeatOf: nil))
            keys.append(.granted(repeated.grant, repeatOf: key.submissionID))
        }
        keys += grants.map { .granted($0.reference, repeatOf: key.submissionID) }
        var found: [OutboxRow] = []
        for key in keys { found += try rows("WHERE key = ?") { $0.text(key.text) } }
        return found
    }

    private func rows(_ condition: String, _ bind: (inout Binder) -> Void) throws(StoreError) -> [OutboxRow] {
        try database.statement(
            "SELECT key, step, target, due_at, leased_until, attempts FROM outbox \(condition)"
        ).rows(bind) { (row) throws(StoreError) -> OutboxRow? in
            guard let key = OutboxKey(text: row.text(0)), let step = OutboxStep(rawValue: row.text(1)),
                let target = OutboxTarget(text: row.text(2))
            else { return nil }
            return OutboxRow(
                key: key, step: step, target: target, dueAt: row.time(3), isLeased: !row.isNull(4),
                attempts: row.int(5))
        }.compactMap { $0 }
    }
}
