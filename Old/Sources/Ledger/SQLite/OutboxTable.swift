import GRDB
import Purchases

/// Statements on the outbox, within one database access.
struct OutboxTable {
    /// A copy's entry has the event's columns from the row that it asks a copy of.
    private static let columns = "e.sequence, e.event_id, e.kind, e.key, e.headers, e.value"

    let database: Database
    private let insertion: PreparedStatement

    init(_ database: Database) throws {
        self.database = database
        insertion = try PreparedStatement(
            """
            INSERT INTO outbox (sequence, event_id, kind, key, headers, value, grant_key)
            VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (event_id) DO NOTHING
            """, on: database)
    }

    /// Adds an event.
    ///
    /// - Returns: whether it is new; one whose id is known stays as it is, bytes included.
    func insert(_ event: Event, at sequence: Int64, telling key: GrantKey? = nil) throws -> Bool {
        let id = try EventIDBytes.encode([event.id])
        return try insertion.run {
            $0.integer(sequence)
            $0.blob(id)
            $0.text(event.kind.rawValue)
            $0.blob(event.key)
            $0.blob(EventHeaders.encode(event.headers))
            $0.blob(event.value)
            $0.text(key?.text)
        } > 0
    }

    /// Asks for one more copy of an event.
    ///
    /// - Returns: false if the outbox does not have the event.
    func insertCopy(of id: EventID, at sequence: Int64) throws -> Bool {
        let statement = try PreparedStatement(
            "INSERT INTO outbox (sequence, copy_of) SELECT ?1, event_id FROM outbox WHERE event_id = ?2", on: database)
        guard let bytes = EventIDBytes.encode(id) else { return false }
        return try statement.run {
            $0.integer(sequence)
            $0.blob(bytes)
        } > 0
    }

    func entries(after sequence: Int64, limit: Int) throws -> [OutboxEntry] {
        try Self.entries(
            database,
            """
            SELECT o.sequence, \(Self.columns) FROM outbox o
            JOIN outbox e ON e.sequence = CASE WHEN o.copy_of IS NULL THEN o.sequence
                ELSE (SELECT sequence FROM outbox WHERE event_id = o.copy_of) END
            WHERE o.sequence > ? ORDER BY o.sequence LIMIT ?
            """
        ) {
            $0.integer(sequence)
            $0.integer(Int64(limit))
        }
    }

    /// Entries that bring an event; those that ask for a copy of one are left out.
    static func originals(_ database: Database, after sequence: Int64, limit: Int) throws -> [OutboxEntry] {
        try entries(
            database,
            """
            SELECT e.sequence, \(columns) FROM outbox e
            WHERE e.copy_of IS NULL AND e.sequence > ? ORDER BY e.sequence LIMIT ?
            """
        ) {
            $0.integer(sequence)
            $0.integer(Int64(limit))
        }
    }

    /// All of them, however large: a relay does not ask again, and would let what it is not told of lie.
    func withheld() throws -> [OutboxEntry] {
        let statement = try PreparedStatement(
            """
            SELECT o.sequence, \(Self.columns) FROM withheld w JOIN outbox o ON o.sequence = w.sequence
            JOIN outbox e ON e.event_id = coalesce(o.copy_of, o.event_id)
            ORDER BY o.sequence
            """, on: database)
        return try statement.rows({ _ in }, read: Self.entry)
    }

    private static func entries(
        _ database: Database, _ sql: String, _ bind: (inout Binder) -> Void
    ) throws -> [OutboxEntry] {
        var bytes = 0
        return try PreparedStatement(sql, on: database).rows(
            bind,
            until: { (entry: OutboxEntry) in
                bytes += entry.event.value?.count ?? 0
                return bytes >= maxReadBytes
            }, read: entry)
    }

    private static func entry(_ row: Columns) throws -> OutboxEntry {
        OutboxEntry(sequence: row.integer(0), event: try event(row, from: 2))
    }

    /// Bytes of events after which a read ends: quarantined records can be as large as the topic allows.
    private static let maxReadBytes = 8 << 20

    func events(_ ids: [EventID]) throws -> [EventRow] {
        let statement = try PreparedStatement(Self.rows + "WHERE e.event_id = ?", on: database)
        return try ids.compactMap(EventIDBytes.encode).flatMap { id in
            try statement.rows({ $0.blob(id) }, read: Self.row)
        }.sorted { $0.sequence < $1.sequence }
    }

    func events(after sequence: Int64, limit: Int) throws -> [EventRow] {
        let statement = try PreparedStatement(
            Self.rows + "WHERE e.copy_of IS NULL AND e.sequence > ? ORDER BY e.sequence LIMIT ?", on: database)
        return try statement.rows(
            {
                $0.integer(sequence)
                $0.integer(Int64(limit))
            }, read: Self.row)
    }

    /// The key of the grant that an event tells of; nil if there is no such event, or it tells of none.
    func grantKey(of id: EventID) throws -> String? {
        guard let bytes = EventIDBytes.encode(id) else { return nil }
        let statement = try PreparedStatement(
            """
            SELECT coalesce(
                (SELECT grant_key FROM outbox WHERE event_id = ?1),
                (SELECT grant_key FROM deliveries WHERE event_id = ?1))
            """, on: database)
        return try statement.rows({ $0.blob(bytes) }) { $0.optionalText(0) }.first ?? nil
    }

    private static let rows = """
        SELECT \(columns), CASE WHEN e.sequence IN (SELECT sequence FROM withheld) THEN NULL ELSE (
            SELECT published_at FROM publications WHERE through >= e.sequence ORDER BY through LIMIT 1) END
        FROM outbox e 
        """

    private static func row(_ row: Columns) throws -> EventRow {
        EventRow(sequence: row.integer(0), event: try event(row, from: 1), publishedAt: row.optionalTime(6))
    }

    private static func event(_ row: Columns, from first: CInt) throws -> Event {
        guard let id = EventIDBytes.decode(row.optionalBlob(first) ?? []).first else {
            throw LedgerError.damaged("an entry of the outbox has no event")
        }
        return Event(
            id: id, kind: try row.word(first + 1), key: row.optionalBlob(first + 2),
            headers: try EventHeaders.decode(row.optionalBlob(first + 3) ?? []), value: row.optionalBlob(first + 4))
    }
}
