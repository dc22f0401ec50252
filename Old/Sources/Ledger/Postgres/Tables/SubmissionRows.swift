import Purchases

/// Statements on submissions, one per batch.
enum SubmissionRows {
    private static let columns = """
        bundle_id, submission_id, user_id, order_id, traceparent, fingerprint, outcome, reason, detail, origin_topic,
        origin_partition, origin_offset, received_at, attempts, event_ids, history, transaction_id
        """

    /// Of ``columns``.
    private static let elements: [PostgresColumn.Element] = [
        .text, .text, .text, .text, .text, .text, .text, .text, .text, .text, .integer, .integer, .integer, .integer,
        .bytes, .text, .text,
    ]

    /// The parameters of ``columns``, an array each.
    private static let parameters = elements.enumerated().map { "$\($0 + 2)::\($1.array)" }

    // Arrays in the list of columns are taken apart in step, row by row; after FROM each would be kept in a store first.
    private static let insertion = PostgresStatement(
        "insert_submissions",
        """
        INSERT INTO submissions (settled_at, \(columns))
        SELECT $1::bigint, \(parameters.map { "unnest(\($0))" }.joined(separator: ", "))
        ON CONFLICT (bundle_id, submission_id) DO NOTHING
        """)

    private static let replacement = PostgresStatement(
        "replace_submissions",
        """
        UPDATE submissions AS s SET
            settled_at = $1::bigint, user_id = n.user_id, order_id = n.order_id, traceparent = n.traceparent,
            fingerprint = n.fingerprint, outcome = n.outcome, reason = n.reason, detail = n.detail,
            origin_topic = n.origin_topic, origin_partition = n.origin_partition, origin_offset = n.origin_offset,
            received_at = n.received_at, attempts = n.attempts, event_ids = n.event_ids, history = n.history,
            transaction_id = n.transaction_id
        FROM unnest(\(parameters.joined(separator: ", "))) AS n (\(columns))
        WHERE s.bundle_id = n.bundle_id AND s.submission_id = n.submission_id
        """)

    private static let lengthening = PostgresStatement(
        "extend_submissions",
        """
        UPDATE submissions AS s SET event_ids = n.event_ids
        FROM unnest($1::text[], $2::text[], $3::bytea[]) AS n (bundle_id, submission_id, event_ids)
        WHERE s.bundle_id = n.bundle_id AND s.submission_id = n.submission_id
        """)

    private static let lookUp = """
        SELECT s.bundle_id, s.submission_id, s.fingerprint, s.outcome, s.reason, s.event_ids,
            EXISTS (SELECT 1 FROM waiting w WHERE w.sequence = s.sequence)::int::bigint
        FROM unnest($1::text[], $2::text[]) AS k (bundle_id, submission_id)
        JOIN submissions s ON s.bundle_id = k.bundle_id AND s.submission_id = k.submission_id
        """

    private static let look = PostgresStatement("look_up_submissions", lookUp)
    private static let lock = PostgresStatement(
        "lock_submissions", lookUp + "\nORDER BY s.submission_id, s.bundle_id FOR NO KEY UPDATE OF s")

    /// Adds rows; those whose key has one are passed over.
    static func insert(_ rows: [BatchDecision.Row], now: Timestamp) throws(PostgresFailure) -> PostgresCommand {
        PostgresCommand(insertion, try values(rows, now))
    }

    /// Writes rows anew, all of them.
    static func replace(_ rows: [BatchDecision.Row], now: Timestamp) throws(PostgresFailure) -> PostgresCommand {
        PostgresCommand(replacement, try values(rows, now))
    }

    /// Replaces submissions' events by longer lists.
    static func extend(_ rows: [(key: SubmissionKey, events: [EventID])]) throws(PostgresFailure) -> PostgresCommand {
        var events = PostgresColumn(.bytes, count: rows.count)
        for row in rows { events.append(try EventIDBytes.encoded(row.events)) }
        return PostgresCommand(lengthening, keys(rows.map(\.key)) + [events.value])
    }

    /// Reads the rows that there are of some keys.
    static func look(up keys: [SubmissionKey]) -> PostgresCommand {
        PostgresCommand(look, Self.keys(keys))
    }

    /// Reads the rows that there are of some keys, and keeps others from changing them until the transaction ends.
    static func lock(_ keys: [SubmissionKey]) -> PostgresCommand {
        PostgresCommand(lock, Self.keys(keys))
    }

    /// What ``look(up:)`` and ``lock(_:)`` found.
    static func found(_ result: PostgresResult) throws(PostgresFailure) -> [(SubmissionKey, PriorSubmission)] {
        try result.rows { row throws(PostgresFailure) in
            let outcome: RecordedOutcome = try row.word(3)
            let key = SubmissionKey(
                bundleID: BundleID(try row.text(0)), submissionID: SubmissionID(try row.text(1)))
            return (
                key,
                PriorSubmission(
                    fingerprint: try row.text(2), outcome: outcome,
                    cause: row.optionalText(4).flatMap { WaitingCause(outcome: outcome, word: $0) },
                    events: EventIDBytes.decode(row.optionalBytes(5) ?? []), comesDue: try row.integer(6) != 0)
            )
        }
    }

    private static func keys(_ keys: [SubmissionKey]) -> [PostgresValue] {
        [.texts(keys.map(\.bundleID.rawValue)), .texts(keys.map(\.submissionID.rawValue))]
    }

    private static func values(
        _ rows: [BatchDecision.Row], _ now: Timestamp
    ) throws(PostgresFailure) -> [PostgresValue] {
        var columns = PostgresColumns(elements, count: rows.count)
        for row in rows {
            let (settlement, claimant, origin) = (row.settlement, row.settlement.claimant, row.settlement.origin)
            columns.append(claimant.bundleID.rawValue)
            columns.append(claimant.submissionID.rawValue)
            columns.append(claimant.userID.rawValue)
            columns.append(claimant.orderID?.rawValue)
            columns.append(claimant.traceparent)
            columns.append(settlement.fingerprint)
            columns.append(row.content.outcome.rawValue)
            columns.append(row.content.reason)
            columns.append(row.content.detail)
            columns.append(origin.topic)
            columns.append(Int64(origin.partition))
            columns.append(origin.offset)
            columns.append(settlement.receivedAt)
            columns.append(Int64(settlement.attempts))
            columns.append(try EventIDBytes.encoded(row.content.events))
            columns.append(try stored { () throws(LedgerError) in try StoredHistory.text(of: settlement.history) })
            columns.append(row.content.transactionID?.rawValue)
        }
        return [.time(now)] + columns.values
    }

    /// The rest of a row that operators do not see: its fingerprint.
    static func fingerprint(of key: SubmissionKey) -> PostgresCommand {
        PostgresCommand(
            PostgresStatement(
                once: "SELECT fingerprint FROM submissions WHERE bundle_id = $1::text AND submission_id = $2::text"),
            [.text(key.bundleID.rawValue), .text(key.submissionID.rawValue)])
    }
}

/// Runs what reads or writes a column's JSON, with the failure of a connection's work.
func stored<Value>(_ body: () throws(LedgerError) -> Value) throws(PostgresFailure) -> Value {
    do throws(LedgerError) {
        return try body()
    } catch {
        throw .damaged("a row holds JSON that cannot be read")
    }
}

extension EventIDBytes {
    /// ``encode(_:)-(_)`` with the failure of a connection's work.
    static func encoded(_ ids: [EventID]) throws(PostgresFailure) -> [UInt8] {
        do throws(LedgerError) {
            return try encode(ids)
        } catch {
            throw .damaged("an event's id is no UUID")
        }
    }
}
