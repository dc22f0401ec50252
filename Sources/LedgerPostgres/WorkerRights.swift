public import Ledger

/// A right to one table or sequence.
struct Right: Hashable, Sendable, CustomStringConvertible {
    let word: String
    let name: String

    var description: String { "\(word) on \(name)" }
}

/// The rights that the role of a worker needs, as docs/postgresql.md grants it.
enum WorkerRights {
    static let all = [
        ("SELECT", "ledger consumer_group partitions products grants answers retries outbox workers measure"),
        ("INSERT", "consumer_group partitions products grants answers retries outbox workers"),
        ("UPDATE", "partitions retries outbox workers measure"), ("DELETE", "answers retries outbox workers"),
        ("USAGE", "lease_numbers"),
    ].flatMap { word, names in names.split(separator: " ").map { Right(word: word, name: String($0)) } }

    /// Further rights of a worker that deletes old answers: to note that, and to see which submissions operators have
    /// acted on.
    private static let pruning = ["INSERT", "SELECT"].map { Right(word: $0, name: "operator_actions") }

    /// Rights that would take a grant back; a tables' owner has them.
    private static let dangerous = ["UPDATE", "DELETE", "TRUNCATE"].map { Right(word: $0, name: "grants") }

    /// Rights that a session's user lacks.
    /// - Parameter prunes: Whether the worker deletes old answers.
    static func missing(for connection: PostgresConnection, prunes: Bool) throws(PostgresFailure) -> [Right] {
        let needed = all + (prunes ? pruning : [])
        let held = try held(needed, by: connection)
        return needed.filter { !held.contains($0) }
    }

    /// Rights that a session's user has, and no worker should.
    static func spare(for connection: PostgresConnection) throws(PostgresFailure) -> [Right] {
        try held(dangerous, by: connection)
    }

    private static func held(
        _ rights: [Right], by connection: PostgresConnection
    ) throws(PostgresFailure) -> [Right] {
        // PostgreSQL has a function for tables and another one for sequences.
        let columns = rights.map { right in
            let kind = right.word == "USAGE" ? "sequence" : "table"
            return "has_\(kind)_privilege('\(right.name)', '\(right.word)')"
        }
        let row = try connection.run(PostgresStatement("SELECT \(columns.joined(separator: ", "))")).first
        return zip(0..., rights).filter { row?.integer($0.0) == 1 }.map(\.1)
    }

    /// Words for the rights that are missing.
    static func refusal(_ missing: [Right]) -> String {
        let list = missing.map(\.description).joined(separator: ", ")
        return "this user lacks \(list); docs/postgresql.md has the rights of a worker"
    }
}

extension PostgresLedger {
    /// Makes sure that this user has all rights of a worker.
    /// - Parameter prunes: Whether the worker deletes old answers.
    /// - Throws: `.unusable` with the rights that are missing, or if a table is.
    public func checkRights(prunes: Bool) throws(LedgerError) {
        do throws(PostgresFailure) {
            let missing = try WorkerRights.missing(for: connection, prunes: prunes)
            guard missing.isEmpty else { throw .unfit(WorkerRights.refusal(missing)) }
        } catch {
            throw error.error(at: configuration.options.description, isOpening: true)
        }
    }
}
