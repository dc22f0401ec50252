import GRDB
import Purchases

/// Statements on the relay: the outbox's head, and who publishes how far.
struct RelayTable {
    let database: Database

    /// The last sequence given out.
    func lastSequence() throws -> Int64 {
        try number("SELECT last_sequence FROM relay")
    }

    func setLastSequence(_ sequence: Int64) throws {
        try PreparedStatement("UPDATE relay SET last_sequence = ?", on: database).run { $0.integer(sequence) }
    }

    /// - Returns: whether the worker has the relay now.
    func take(_ worker: WorkerID, until end: Timestamp, now: Timestamp) throws -> Bool {
        let statement = try PreparedStatement(
            "UPDATE relay SET holder = ?1, held_until = ?2 WHERE holder IS NULL OR holder = ?1 OR held_until <= ?3",
            on: database)
        return try statement.run {
            $0.text(worker.text)
            $0.time(end)
            $0.time(now)
        } > 0
    }

    func leave(_ worker: WorkerID) throws {
        try PreparedStatement("UPDATE relay SET holder = NULL, held_until = NULL WHERE holder = ?", on: database)
            .run { $0.text(worker.text) }
    }

    func publishedThrough() throws -> Int64 {
        try number("SELECT published_through FROM relay")
    }

    /// - Returns: false if another worker has the relay; then nothing is noted.
    func note(_ note: RelayNote, by worker: WorkerID, until end: Timestamp, now: Timestamp) throws -> Bool {
        let statement = try PreparedStatement(
            """
            UPDATE relay SET published_through = max(published_through, ?2), held_until = ?3
            WHERE holder = ?1
            """, on: database)
        guard
            try statement.run({
                $0.text(worker.text)
                $0.integer(note.through)
                $0.time(end)
            }) > 0
        else { return false }
        try each(note.withhold, "INSERT INTO withheld (sequence) VALUES (?) ON CONFLICT DO NOTHING")
        try each(note.release, "DELETE FROM withheld WHERE sequence = ?")
        try PreparedStatement(
            """
            DELETE FROM outbox WHERE copy_of IS NOT NULL AND sequence <= ?
                AND sequence NOT IN (SELECT sequence FROM withheld)
            """, on: database
        ).run { $0.integer(note.through) }
        try PreparedStatement(
            """
            INSERT INTO publications (second, through, published_at) VALUES (?, ?, ?)
            ON CONFLICT (second) DO UPDATE
            SET through = max(through, excluded.through), published_at = excluded.published_at
            """, on: database
        ).run {
            $0.integer(now.milliseconds / 1000)
            $0.integer(note.through)
            $0.time(now)
        }
        return true
    }

    private func each(_ sequences: [Int64], _ sql: String) throws {
        guard !sequences.isEmpty else { return }
        let statement = try PreparedStatement(sql, on: database)
        for sequence in sequences { try statement.run { $0.integer(sequence) } }
    }

    private func number(_ sql: String) throws -> Int64 {
        guard let number = try PreparedStatement(sql, on: database).rows({ _ in }, read: { $0.integer(0) }).first else {
            throw LedgerError.damaged("the relay's row is gone")
        }
        return number
    }
}
