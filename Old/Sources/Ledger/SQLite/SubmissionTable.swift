import GRDB
import Purchases

/// Statements on submissions, within one database access.
struct SubmissionTable {
    let database: Database
    private let insertion: PreparedStatement

    private static let columns = """
        INSERT INTO submissions (
            bundle_id, submission_id, user_id, order_id, traceparent, fingerprint, outcome, reason, detail,
            origin_topic, origin_partition, origin_offset, received_at, settled_at, attempts, event_ids, history,
            transaction_id)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (bundle_id, submission_id) DO 
        """

    init(_ database: Database) throws {
        self.database = database
        insertion = try PreparedStatement(Self.columns + "NOTHING", on: database)
    }

    /// The row of a key, as a settlement of the same key needs it.
    func prior(_ key: SubmissionKey) throws -> PriorSubmission? {
        try Self.prior(key, try Self.lookUp(database))
    }

    /// What is recorded of those keys that have a row.
    static func recorded(
        _ keys: [SubmissionKey], _ database: Database
    ) throws -> [SubmissionKey: RecordedSubmission] {
        // A prepared look-up per key is as fast here as one statement for a batch, since no key crosses a network,
        // and unlike a list in JSON it takes any text.
        let lookUp = try lookUp(database)
        var recorded: [SubmissionKey: RecordedSubmission] = [:]
        for key in keys {
            guard let prior = try prior(key, lookUp) else { continue }
            recorded[key] = RecordedSubmission(fingerprint: prior.fingerprint, outcome: prior.outcome)
        }
        return recorded
    }

    private static func lookUp(_ database: Database) throws -> PreparedStatement {
        try PreparedStatement(
            """
            SELECT fingerprint, outcome, reason, event_ids,
                EXISTS (SELECT 1 FROM waiting WHERE waiting.sequence = submissions.sequence)
            FROM submissions WHERE bundle_id = ? AND submission_id = ?
            """, on: database)
    }

    private static func prior(_ key: SubmissionKey, _ lookUp: PreparedStatement) throws -> PriorSubmission? {
        try lookUp.rows {
            $0.text(key.bundleID.rawValue)
            $0.text(key.submissionID.rawValue)
        } read: { row in
            let outcome: RecordedOutcome = try row.word(1)
            return PriorSubmission(
                fingerprint: row.text(0), outcome: outcome,
                cause: row.optionalText(2).flatMap { WaitingCause(outcome: outcome, word: $0) },
                events: events(row, 3), comesDue: row.integer(4) != 0)
        }.first
    }

    /// Adds a submission's row.
    ///
    /// - Returns: false if its key has one, which stays as it is.
    func insert(_ content: SubmissionContent, of settlement: Settlement, now: Timestamp) throws -> Bool {
        try run(insertion, content, settlement, now) > 0
    }

    /// Writes a submission's row, or all of it anew if its key has one.
    func write(_ content: SubmissionContent, of settlement: Settlement, now: Timestamp) throws {
        let statement = try PreparedStatement(
            Self.columns + """
                UPDATE SET
                    user_id = excluded.user_id, order_id = excluded.order_id, traceparent = excluded.traceparent,
                    fingerprint = excluded.fingerprint, outcome = excluded.outcome, reason = excluded.reason,
                    detail = excluded.detail, origin_topic = excluded.origin_topic,
                    origin_partition = excluded.origin_partition, origin_offset = excluded.origin_offset,
                    received_at = excluded.received_at, settled_at = excluded.settled_at,
                    attempts = excluded.attempts, event_ids = excluded.event_ids, history = excluded.history,
                    transaction_id = excluded.transaction_id
                """, on: database)
        _ = try run(statement, content, settlement, now)
    }

    private func run(
        _ statement: PreparedStatement, _ content: SubmissionContent, _ settlement: Settlement, _ now: Timestamp
    ) throws -> Int {
        let claimant = settlement.claimant
        let history = try StoredHistory.text(of: settlement.history)
        let events = try EventIDBytes.encode(content.events)
        return try statement.run {
            $0.text(claimant.bundleID.rawValue)
            $0.text(claimant.submissionID.rawValue)
            $0.text(claimant.userID.rawValue)
            $0.text(claimant.orderID?.rawValue)
            $0.text(claimant.traceparent)
            $0.text(settlement.fingerprint)
            $0.text(content.outcome.rawValue)
            $0.text(content.reason)
            $0.text(content.detail)
            $0.text(settlement.origin.topic)
            $0.integer(Int64(settlement.origin.partition))
            $0.integer(settlement.origin.offset)
            $0.time(settlement.receivedAt)
            $0.time(now)
            $0.integer(Int64(settlement.attempts))
            $0.blob(events)
            $0.text(history)
            $0.text(content.transactionID?.rawValue)
        }
    }

    /// Replaces a granted submission's events by a longer list.
    func setEvents(_ events: [EventID], of key: SubmissionKey) throws {
        let statement = try PreparedStatement(
            "UPDATE submissions SET event_ids = ? WHERE bundle_id = ? AND submission_id = ?", on: database)
        let bytes = try EventIDBytes.encode(events)
        try statement.run {
            $0.blob(bytes)
            $0.text(key.bundleID.rawValue)
            $0.text(key.submissionID.rawValue)
        }
    }

    /// The end of the statement that reads a page.
    static func rest(of filter: SubmissionFilter) -> String {
        var conditions = ["sequence < ?1"]
        // Only the conditions that narrow are part of the statement, so that each finds its index.
        switch filter.outcome {
        case .held: conditions.append("outcome IN ('parked', 'held') AND outcome = 'held'")
        case .parked: conditions.append("outcome IN ('parked', 'held') AND outcome = 'parked'")
        case .some: conditions.append("outcome = ?3")
        case nil: break
        }
        if filter.bundleID != nil { conditions.append("bundle_id = ?4") }
        if filter.submissionID != nil { conditions.append("submission_id = ?5") }
        if filter.userID != nil { conditions.append(SplitIndex.either("user_id = ?6")) }
        if filter.orderID != nil { conditions.append(SplitIndex.either("order_id = ?7")) }
        if filter.reason != nil { conditions.append("reason = ?8") }
        if filter.receivedUntil != nil { conditions.append("received_at <= ?9") }
        if filter.transactionID != nil {
            conditions.append(
                """
                sequence IN (
                    SELECT sequence FROM submissions WHERE transaction_id = ?10
                    UNION SELECT s.sequence FROM grants g
                    JOIN submissions s ON s.bundle_id = g.bundle_id AND s.submission_id = g.submission_id
                    WHERE g.transaction_id = ?10
                        OR g.original_transaction_id = ?10 AND g.original_transaction_id <> g.transaction_id)
                """)
        }
        // The last clause is always true; it gives the statement all its parameters whatever the filter.
        return """
            WHERE \(conditions.joined(separator: " AND "))
                AND coalesce(?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, '') IS NOT NULL
            ORDER BY sequence DESC LIMIT ?2
            """
    }

    func page(_ filter: SubmissionFilter, before: Int64?, limit: Int) throws -> [SubmissionRow] {
        try rows(Self.rest(of: filter)) {
            $0.integer(before ?? .max)
            $0.integer(Int64(limit))
            $0.text(filter.outcome?.rawValue)
            $0.text(filter.bundleID?.rawValue)
            $0.text(filter.submissionID?.rawValue)
            $0.text(filter.userID?.rawValue)
            $0.text(filter.orderID?.rawValue)
            $0.text(filter.reason)
            $0.time(filter.receivedUntil)
            $0.text(filter.transactionID?.rawValue)
        }
    }

    /// The whole row of a key.
    func row(of key: SubmissionKey) throws -> StoredSubmission? {
        let statement = try PreparedStatement(
            "SELECT fingerprint FROM submissions WHERE bundle_id = ?1 AND submission_id = ?2", on: database)
        func bind(_ binder: inout Binder) {
            binder.text(key.bundleID.rawValue)
            binder.text(key.submissionID.rawValue)
        }
        guard let fingerprint = try statement.rows(bind, read: { $0.text(0) }).first,
            let row = try rows("WHERE bundle_id = ?1 AND submission_id = ?2", bind).first
        else { return nil }
        return StoredSubmission(row: row, fingerprint: fingerprint)
    }

    private func rows(_ rest: String, _ bind: (inout Binder) -> Void) throws -> [SubmissionRow] {
        let statement = try PreparedStatement(
            "SELECT \(Self.rowColumns) FROM submissions " + rest, on: database)
        return try statement.rows(bind, read: Self.row)
    }

    /// All rows in ledger order.
    static func rows(_ database: Database, after sequence: Int64, limit: Int) throws -> [SubmissionRow] {
        let statement = try PreparedStatement(
            "SELECT \(rowColumns) FROM submissions WHERE sequence > ? ORDER BY sequence LIMIT ?", on: database)
        return try statement.rows(after: sequence, limit: limit, read: row)
    }

    private static let rowColumns = """
        sequence, submission_id, user_id, bundle_id, order_id, traceparent, outcome, reason, detail, origin_topic,
        origin_partition, origin_offset, received_at, settled_at, attempts, event_ids, history,
        (SELECT due_at FROM waiting WHERE waiting.sequence = submissions.sequence), transaction_id
        """

    private static func row(_ row: Columns) throws -> SubmissionRow {
        let claimant = Claimant(
            submissionID: SubmissionID(row.text(1)), userID: UserID(row.text(2)), bundleID: BundleID(row.text(3)),
            orderID: row.optionalText(4).map { OrderID($0) }, traceparent: row.optionalText(5))
        return SubmissionRow(
            sequence: row.integer(0), claimant: claimant, outcome: try row.word(6), reason: row.optionalText(7),
            detail: row.optionalText(8),
            origin: Origin(
                topic: row.text(9), partition: Int32(truncatingIfNeeded: row.integer(10)), offset: row.integer(11)),
            receivedAt: row.time(12), settledAt: row.time(13), attempts: Int(row.integer(14)),
            history: try StoredHistory.history(row.optionalText(16)), dueAt: row.optionalTime(17),
            transactionID: row.optionalText(18).map { TransactionID($0) },
            eventIDs: events(row, 15))
    }

    private static func events(_ row: Columns, _ column: CInt) -> [EventID] {
        EventIDBytes.decode(row.optionalBlob(column) ?? [])
    }
}
