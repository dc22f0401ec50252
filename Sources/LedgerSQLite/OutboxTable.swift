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

    /// Leases the due rows of one request, in the order in which they are due.
    func take(_ request: OutboxRequest, now: Timestamp) throws(StoreError) -> [OutboxItem] {
        guard request.limit > 0 else { return [] }
        let rows = try database.statement(
            """
            SELECT key, step, lease, attempts, reason, record_time, digest, size FROM outbox
            WHERE target = ? AND due_at <= ? ORDER BY due_at, sequence LIMIT ?
            """
        ).rows {
            $0.text(request.target.text)
            $0.time(now)
            $0.integer(request.limit)
        } read: { (row) throws(StoreError) -> (OutboxLease, Int, QuarantineStub?)? in
            // A row that only a later version knows stays for that version's workers.
            guard let key = OutboxKey(text: row.text(0)), let step = OutboxStep(rawValue: row.text(1)) else {
                return nil
            }
            return (OutboxLease(key: key, step: step, number: row.integer(2) + 1), row.int(3), Self.stub(row, key: key))
        }
        var items: [OutboxItem] = []
        for (lease, attempts, stub) in rows.compactMap({ $0 }) {
            try database.statement("UPDATE outbox SET lease = ?1, leased_until = ?2, due_at = ?2 WHERE key = ?3").run {
                $0.integer(lease.number)
                $0.time(now.advanced(by: .milliseconds(leaseMilliseconds)))
                $0.text(lease.key.text)
            }
            // Leased all the same, or rows that refer to nothing would stay in front of all others.
            guard let work = try work(lease, stub) else { continue }
            items.append(OutboxItem(lease: lease, attempts: attempts, work: work))
        }
        return items
    }

    private static func stub(_ row: Columns, key: OutboxKey) -> QuarantineStub? {
        guard case .quarantined(let origin) = key, let digest = SHA256Digest(bytes: row.blob(6)) else { return nil }
        return QuarantineStub(
            origin: origin, reason: row.text(4), timestamp: row.time(5), digest: digest, size: row.int(7))
    }

    /// The input of a row's step. Nil if the row that it refers to does not exist; the age of the outbox shows that.
    private func work(_ lease: OutboxLease, _ stub: QuarantineStub?) throws(StoreError) -> OutboxItem.Work? {
        switch (lease.key, lease.step) {
        case (.granted(let reference, _), .call): return try grant(reference).map { .call($0) }
        case (.granted(let reference, let submission), .publish):
            return try grant(reference).map { .publish(GrantedEvent.event(of: $0, repeatOf: submission)) }
        case (.failed(let app, let submission), _):
            let key = SubmissionKey(bundleID: app, submissionID: submission)
            guard case .failed(let failure) = try AnswerTable(database: database).answers([key])[key] else {
                return nil
            }
            return .publish(FailedEvent.event(of: failure))
        case (.quarantined, _): return stub.map { .publish(QuarantinedEvent.event(of: $0)) }
        }
    }

    private func grant(_ reference: GrantReference) throws(StoreError) -> Grant? {
        try GrantTable(database: database).holders([HolderQuestion(reference)]).first?.grant
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

    /// How many rows there are, and ``LedgerMeasure/outboxAge``.
    func size(now: Timestamp) throws(StoreError) -> (rows: Int, age: Int64) {
        let sql = "SELECT count(*), min(due_at - attempts * \(LedgerMeasure.outboxTry)) FROM outbox"
        let found = try database.statement(sql).first({ _ in }) {
            ($0.int(0), $0.optionalInteger(1))
        }
        guard let found else { return (0, 0) }
        return (found.0, max(0, now.milliseconds - (found.1 ?? now.milliseconds)))
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
