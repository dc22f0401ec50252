import Purchases

/// Reading the outbox, by relays and by people.
enum EventRows {
    /// Bytes of events after which a read ends: quarantined records can be as large as the topic allows.
    static let maxReadBytes: Int64 = 8 << 20

    // A copy's entry has the event's columns from the row that it asks a copy of.
    private static let reading = PostgresStatement(
        "read_outbox",
        """
        SELECT sequence, event_id, kind, key, headers, value FROM (
            SELECT o.sequence, uuid_send(e.event_id) AS event_id, e.kind, e.key, e.headers, e.value,
                sum(coalesce(length(e.value), 0)) OVER (ORDER BY o.sequence) - coalesce(length(e.value), 0) AS before
            FROM (SELECT sequence, copy_of FROM outbox WHERE sequence > $1::bigint ORDER BY sequence LIMIT $2::bigint) o
            JOIN outbox e ON e.sequence = CASE WHEN o.copy_of IS NULL THEN o.sequence
                ELSE (SELECT sequence FROM outbox WHERE event_id = o.copy_of) END
        ) AS entries WHERE before < $3::bigint ORDER BY sequence
        """)

    // All of them, however many or large: a relay does not ask again, and would let what it is not told of lie.
    private static let withholding = PostgresStatement(
        "read_withheld",
        """
        SELECT o.sequence, uuid_send(e.event_id), e.kind, e.key, e.headers, e.value
        FROM withheld w JOIN outbox o ON o.sequence = w.sequence
        JOIN outbox e ON e.event_id = coalesce(o.copy_of, o.event_id)
        ORDER BY o.sequence
        """)

    // Bounded by bytes as well, and without the copies, which are no events of their own.
    private static let originals = PostgresStatement(
        "read_originals",
        """
        SELECT sequence, event_id, kind, key, headers, value FROM (
            SELECT sequence, uuid_send(event_id) AS event_id, kind, key, headers, value,
                sum(coalesce(length(value), 0)) OVER (ORDER BY sequence) - coalesce(length(value), 0) AS before
            FROM (
                SELECT * FROM outbox WHERE copy_of IS NULL AND sequence > $1::bigint ORDER BY sequence LIMIT $2::bigint
            ) AS page
        ) AS entries WHERE before < $3::bigint ORDER BY sequence
        """)

    static func originals(after sequence: Int64, limit: Int) -> PostgresCommand {
        PostgresCommand(originals, [.integer(sequence), .integer(Int64(limit)), .integer(maxReadBytes)])
    }

    private static let columns = """
        SELECT e.sequence, uuid_send(e.event_id), e.kind, e.key, e.headers, e.value,
            CASE WHEN e.sequence IN (SELECT sequence FROM withheld) THEN NULL ELSE (
                SELECT published_at FROM publications WHERE through >= e.sequence ORDER BY through LIMIT 1) END
        FROM outbox e

        """

    private static let listing = PostgresStatement(
        "list_events",
        columns + "WHERE e.copy_of IS NULL AND e.sequence > $1::bigint ORDER BY e.sequence LIMIT $2::bigint")
    private static let finding = PostgresStatement(
        "find_events", columns + "WHERE e.event_id = ANY($1::uuid[]) ORDER BY e.sequence")
    private static let telling = PostgresStatement(
        "find_told_grant",
        """
        SELECT grant_key FROM outbox WHERE event_id = ANY($1::uuid[])
        UNION ALL SELECT grant_key FROM deliveries WHERE event_id = ANY($1::uuid[])
        """)

    static func entries(after sequence: Int64, limit: Int) -> PostgresCommand {
        PostgresCommand(reading, [.integer(sequence), .integer(Int64(limit)), .integer(maxReadBytes)])
    }

    static let withheld = PostgresCommand(withholding)

    /// What ``entries(after:limit:)`` and ``withheld`` found.
    static func entries(_ result: PostgresResult) throws(PostgresFailure) -> [OutboxEntry] {
        try result.rows { row throws(PostgresFailure) in
            OutboxEntry(sequence: try row.integer(0), event: try event(row))
        }
    }

    static func events(after sequence: Int64, limit: Int) -> PostgresCommand {
        PostgresCommand(listing, [.integer(sequence), .integer(Int64(limit))])
    }

    /// Ids that are no UUIDs are no event's, and are not asked for.
    static func events(_ ids: [EventID]) -> PostgresCommand {
        PostgresCommand(finding, [uuids(ids)])
    }

    /// What ``events(after:limit:)`` and ``events(_:)`` found.
    static func rows(_ result: PostgresResult) throws(PostgresFailure) -> [EventRow] {
        try result.rows { row throws(PostgresFailure) in
            EventRow(sequence: try row.integer(0), event: try event(row), publishedAt: try row.optionalTime(6))
        }
    }

    /// Reads the key of the grant that an event tells of.
    static func grantKey(of id: EventID) -> PostgresCommand {
        PostgresCommand(telling, [uuids([id])])
    }

    private static func uuids(_ ids: [EventID]) -> PostgresValue {
        var column = PostgresColumn(.uuid, count: ids.count)
        for id in ids.compactMap(EventIDBytes.encode) { column.append(id) }
        return column.value
    }

    private static func event(_ row: PostgresRow) throws(PostgresFailure) -> Event {
        guard let id = EventIDBytes.decode(row.optionalBytes(1) ?? []).first else {
            throw .damaged("an entry of the outbox has no event")
        }
        let headers: [EventHeader]
        do throws(LedgerError) {
            headers = try EventHeaders.decode(row.optionalBytes(4) ?? [])
        } catch {
            throw .damaged("an event's headers cannot be read")
        }
        return Event(
            id: id, kind: try row.word(2), key: row.optionalBytes(3), headers: headers, value: row.optionalBytes(5))
    }
}
