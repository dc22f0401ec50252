import Contract
import Ledger
import LedgerConformance
import PostgresTesting
import Testing

@testable import LedgerPostgres

@Suite struct PostgresConformanceTests {
    @Test("PostgreSQL keeps every rule", arguments: LedgerConformance.rules)
    func conforms(_ rule: ConformanceRule) throws {
        let database = try TemporaryLedger()
        defer { database.remove() }
        try rule.check(try database.subject())
    }

    @Test("PostgreSQL answers random calls as the model does", arguments: UInt64(0)..<40)
    func compares(seed: UInt64) throws {
        let database = try TemporaryLedger()
        defer { database.remove() }
        try RandomComparison.check(database.subject(), seed: seed)
    }

    /// What a next version may do: it only adds.
    private static let nextVersion = """
        ALTER TABLE grants ADD COLUMN later text;
        ALTER TABLE answers ADD COLUMN later bigint;
        ALTER TABLE retries ADD COLUMN later text NOT NULL DEFAULT '';
        ALTER TABLE outbox ADD COLUMN later text;
        ALTER TABLE partitions ADD COLUMN later integer NOT NULL DEFAULT 0;
        ALTER TABLE workers ADD COLUMN later text;
        CREATE TABLE later (one integer PRIMARY KEY);
        CREATE INDEX grants_later ON grants (later);
        UPDATE ledger SET version = 2;
        """

    @Test("A program of the version before works with the next schema as with its own", arguments: UInt64(0)..<3)
    func upgraded(seed: UInt64) throws {
        let database = try TemporaryLedger()
        defer { database.remove() }
        let subject = try database.subject()
        // Sessions that are open, and one that is opened then: as workers are replaced one by one.
        try database.server.run(Self.nextVersion, database: database.database)
        let opened = try PostgresLedger(try database.configuration())
        try RandomComparison.check(
            ConformanceSubject(ledger: subject.ledger, other: opened, setClock: subject.setClock), seed: seed)
    }
}
