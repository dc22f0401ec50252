import GRDB
import Purchases

/// Statements on the outbox, within one database access.
struct OutboxTable {
    private static let columns =
        "sequence, event_id, kind, key, headers, value, copies_requested, copies_published, published_at"

    let database: Database
    private let insertion: PreparedStatement

    init(_ database: Database) throws {
        self.database = database
        insertion = try PreparedStatement(
            """
            INSERT INTO outbox (event_id, kind, key, headers, value) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (event_id) DO NOTHING
            """, on: database)
    }

    /// Adds an event that waits for its first delivery.
    ///
    /// - Returns: whether it is new; one whose id is known stays as it is, bytes included.
    func insert(_ event: Event) throws -> Bool {
        try insertion.run {
            $0.text(event.id.rawValue)
            $0.text(event.kind.rawValue)
            $0.blob(event.key)
            $0.blob(EventHeaders.encode(event.headers))
            $0.blob(event.value)
        } > 0
    }

    /// Asks for one more copy of an event.
    func requestCopy(_ id: EventID) throws {
        let statement = try PreparedStatement(
            "UPDATE outbox SET copies_requested = copies_requested + 1 WHERE event_id = ?", on: database)
        guard try statement.run({ $0.text(id.rawValue) }) > 0 else {
            throw LedgerError.damaged("an event that answers a submission is not in the outbox")
        }
    }

    /// Notes delivery of the copies that an entry was read with; never of more than were asked for.
    func markPublished(_ entry: OutboxEntry, now: Timestamp) throws {
        let statement = try PreparedStatement(
            """
            UPDATE outbox SET copies_published = max(copies_published, min(copies_requested, ?2)), published_at = ?3
            WHERE sequence = ?1 AND event_id = ?4
            """, on: database)
        try statement.run {
            $0.integer(entry.sequence)
            $0.integer(entry.copiesRequested)
            $0.time(now)
            $0.text(entry.event.id.rawValue)
        }
    }

    func unpublished(after sequence: Int64, limit: Int) throws -> [OutboxEntry] {
        let statement = try PreparedStatement(
            """
            SELECT \(Self.columns) FROM outbox
            WHERE copies_published < copies_requested AND sequence > ? ORDER BY sequence LIMIT ?
            """, on: database)
        var bytes = 0
        return try statement.rows {
            $0.integer(sequence)
            $0.integer(Int64(limit))
        } until: { (entry: OutboxEntry) in
            bytes += entry.event.value?.count ?? 0
            return bytes >= Self.maxReadBytes
        } read: { row in
            OutboxEntry(sequence: row.integer(0), copiesRequested: row.integer(6), event: try Self.event(row))
        }
    }

    /// Bytes of events after which a read ends: quarantined records can be as large as the topic allows.
    private static let maxReadBytes = 8 << 20

    func events(_ ids: [EventID]) throws -> [EventRow] {
        let statement = try PreparedStatement(
            """
            SELECT \(Self.columns) FROM outbox WHERE event_id IN (SELECT value FROM json_each(?)) ORDER BY sequence
            """, on: database)
        let list = try JSONText.encode(ids.map(\.rawValue))
        return try statement.rows({ $0.text(list) }, read: Self.row)
    }

    func events(after sequence: Int64, limit: Int) throws -> [EventRow] {
        let statement = try PreparedStatement(
            "SELECT \(Self.columns) FROM outbox WHERE sequence > ? ORDER BY sequence LIMIT ?", on: database)
        return try statement.rows(
            {
                $0.integer(sequence)
                $0.integer(Int64(limit))
            }, read: Self.row)
    }

    private static func row(_ row: Columns) throws -> EventRow {
        EventRow(
            sequence: row.integer(0), event: try event(row), copiesRequested: row.integer(6),
            copiesPublished: row.integer(7), publishedAt: row.optionalTime(8))
    }

    private static func event(_ row: Columns) throws -> Event {
        Event(
            id: EventID(row.text(1)), kind: try row.word(2), key: row.optionalBlob(3),
            headers: try EventHeaders.decode(row.optionalBlob(4) ?? []), value: row.optionalBlob(5))
    }
}
