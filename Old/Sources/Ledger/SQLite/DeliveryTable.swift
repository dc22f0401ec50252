import GRDB
import Purchases

/// Statements on deliveries, within one database access. Leases are as in ``WaitingTable``: a due time with a name.
struct DeliveryTable {
    /// A delivery that was done, with what enters the outbox.
    struct Done {
        let event: Event
        let key: GrantKey
        let joined: Int
    }

    let database: Database

    /// Opens the delivery of a grant that was just made.
    func open(_ claim: GrantClaim, _ order: DeliveryOrder, of bundleID: BundleID, now: Timestamp) throws {
        let id = try EventIDBytes.encode([claim.event.id])
        let statement = try PreparedStatement(
            """
            INSERT INTO deliveries (
                event_id, grant_key, bundle_id, opened_at, due_at, holder, event_key, headers, value)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, on: database)
        try statement.run {
            $0.blob(id)
            $0.text(claim.key.text)
            $0.text(bundleID.rawValue)
            $0.time(now)
            $0.time(now.advanced(by: order.lease))
            $0.text(order.worker?.text)
            $0.blob(claim.event.key)
            $0.blob(EventHeaders.encode(claim.event.headers))
            $0.blob(claim.event.value)
        }
    }

    /// Has one more submission answered by an event whose delivery is open.
    func join(_ id: EventID) throws {
        let statement = try PreparedStatement(
            """
            UPDATE deliveries SET joined = min(joined + 1, \(Delivery.maxJoined))
            WHERE event_id = ? AND due_at IS NOT NULL
            """, on: database)
        guard let bytes = EventIDBytes.encode(id), try statement.run({ $0.blob(bytes) }) > 0 else {
            throw LedgerError.damaged("an event that answers a submission is neither in the outbox nor to be delivered")
        }
    }

    /// Whether anything is due of an app.
    func hasDue(_ share: DeliveryShare, _ now: Timestamp) throws -> Bool {
        try !PreparedStatement(
            "SELECT 1 FROM deliveries WHERE bundle_id = ? AND due_at <= ? LIMIT 1", on: database
        ).rows({
            $0.text(share.bundleID.rawValue)
            $0.time(now)
        }) { _ in true }.isEmpty
    }

    /// Takes what is due of an app.
    func take(_ worker: WorkerID, _ share: DeliveryShare, until end: Timestamp, now: Timestamp) throws -> [Delivery] {
        let due = try PreparedStatement(
            "SELECT sequence FROM deliveries WHERE bundle_id = ? AND due_at <= ? ORDER BY due_at LIMIT ?", on: database
        ).rows({
            $0.text(share.bundleID.rawValue)
            $0.time(now)
            $0.integer(Int64(share.limit))
        }) { $0.integer(0) }
        let lease = try PreparedStatement(
            "UPDATE deliveries SET holder = ?2, due_at = ?3 WHERE sequence = ?1", on: database)
        let read = try PreparedStatement(
            """
            SELECT event_id, event_key, headers, value, bundle_id, grant_key, attempts, history
            FROM deliveries WHERE sequence = ?
            """, on: database)
        return try due.flatMap { sequence in
            try lease.run {
                $0.integer(sequence)
                $0.text(worker.text)
                $0.time(end)
            }
            return try read.rows({ $0.integer(sequence) }) { row in
                Delivery(
                    bundleID: BundleID(row.text(4)), grantID: GrantKey(text: row.text(5)).grantID,
                    event: try Self.event(row), attempts: Int(row.integer(6)),
                    history: try StoredHistory.history(row.optionalText(7)))
            }
        }
    }

    /// Moves the end of leases.
    func keep(_ events: [EventID], _ worker: WorkerID, until end: Timestamp) throws {
        let statement = try PreparedStatement(
            "UPDATE deliveries SET due_at = ?3 WHERE event_id = ?1 AND holder = ?2", on: database)
        for id in events.compactMap(EventIDBytes.encode) {
            try statement.run {
                $0.blob(id)
                $0.text(worker.text)
                $0.time(end)
            }
        }
    }

    /// Marks a delivery as done.
    ///
    /// - Returns: what is to be published now; nil if it was done before.
    func finish(_ report: DeliveryReport, now: Timestamp) throws -> Done? {
        guard let id = EventIDBytes.encode(report.eventID) else { return nil }
        let reading = try PreparedStatement(
            """
            SELECT event_id, event_key, headers, value, grant_key, joined
            FROM deliveries WHERE event_id = ? AND due_at IS NOT NULL
            """, on: database)
        let done = try reading.rows({ $0.blob(id) }) { row in
            Done(event: try Self.event(row), key: GrantKey(text: row.text(4)), joined: Int(row.integer(5)))
        }.first
        guard let done else { return nil }
        let history = try StoredHistory.text(of: report.history)
        let statement = try PreparedStatement(
            """
            UPDATE deliveries SET done_at = ?2, attempts = ?3, history = ?4, due_at = NULL, holder = NULL,
                event_key = NULL, headers = NULL, value = NULL
            WHERE event_id = ?1
            """, on: database)
        try statement.run {
            $0.blob(id)
            $0.time(now)
            $0.integer(Int64(report.attempts))
            $0.text(history)
        }
        return done
    }

    /// Gives a delivery back, due after a while, if it is still the worker's.
    func postpone(_ report: DeliveryReport, by delay: Duration, _ worker: WorkerID, now: Timestamp) throws {
        guard let id = EventIDBytes.encode(report.eventID) else { return }
        let history = try StoredHistory.text(of: report.history)
        let statement = try PreparedStatement(
            """
            UPDATE deliveries SET due_at = ?3, attempts = ?4, history = ?5, holder = NULL
            WHERE event_id = ?1 AND holder = ?2
            """, on: database)
        try statement.run {
            $0.blob(id)
            $0.text(worker.text)
            $0.time(now.advanced(by: delay))
            $0.integer(Int64(report.attempts))
            $0.text(history)
        }
    }

    func counts() throws -> DeliveryCounts {
        let statement = try PreparedStatement(
            "SELECT count(*), min(due_at) FROM deliveries WHERE due_at IS NOT NULL", on: database)
        return try statement.rows({ _ in }) { row in
            DeliveryCounts(open: Int(row.integer(0)), firstDueAt: row.optionalTime(1))
        }.first ?? DeliveryCounts(open: 0, firstDueAt: nil)
    }

    func rows(_ events: [EventID]) throws -> [DeliveryRow] {
        let statement = try PreparedStatement(
            "SELECT \(Self.columns) FROM deliveries WHERE event_id = ?", on: database)
        return try events.compactMap(EventIDBytes.encode).flatMap { id in
            try statement.rows({ $0.blob(id) }, read: Self.row)
        }.sorted { $0.sequence < $1.sequence }
    }

    /// All rows in ledger order.
    static func rows(_ database: Database, after sequence: Int64, limit: Int) throws -> [DeliveryRow] {
        let statement = try PreparedStatement(
            "SELECT \(columns) FROM deliveries WHERE sequence > ? ORDER BY sequence LIMIT ?", on: database)
        return try statement.rows(after: sequence, limit: limit, read: row)
    }

    private static let columns =
        "sequence, event_id, bundle_id, grant_key, opened_at, due_at, holder, done_at, attempts, history"

    private static func row(_ row: Columns) throws -> DeliveryRow {
        let key = GrantKey(text: row.text(3))
        let state: DeliveryRow.State =
            if let dueAt = row.optionalTime(5) {
                .open(dueAt: dueAt, worker: row.optionalText(6).map { WorkerID($0) })
            } else {
                .done(at: row.time(7))
            }
        return DeliveryRow(
            sequence: row.integer(0), bundleID: BundleID(row.text(2)), grantID: key.grantID,
            eventID: try id(row, 1), openedAt: row.time(4), state: state, attempts: Int(row.integer(8)),
            history: try StoredHistory.history(row.optionalText(9)))
    }

    /// The event in the first four columns.
    private static func event(_ row: Columns) throws -> Event {
        Event(
            id: try id(row, 0), kind: .granted, key: row.optionalBlob(1),
            headers: try EventHeaders.decode(row.optionalBlob(2) ?? []), value: row.optionalBlob(3))
    }

    private static func id(_ row: Columns, _ column: CInt) throws -> EventID {
        guard let id = EventIDBytes.decode(row.optionalBlob(column) ?? []).first else {
            throw LedgerError.damaged("a delivery has no event")
        }
        return id
    }
}
