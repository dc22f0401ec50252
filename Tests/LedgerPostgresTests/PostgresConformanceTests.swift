import Contract
import Ledger
import LedgerConformance
import PostgresTesting
import Testing

@testable import LedgerPostgres

@Suite struct PostgresConformanceTests {
    private let database: TemporaryLedger

    init() throws { database = try TemporaryLedger() }

    @Test("PostgreSQL keeps every rule", arguments: LedgerConformance.rules + LedgerConformance.laterRules)
    func conforms(_ rule: ConformanceRule) throws {
        try rule.check(try database.subject())
    }

    @Test("PostgreSQL answers random calls as the model does", arguments: UInt64(0)..<40)
    func compares(seed: UInt64) throws {
        try RandomComparison.check(database.subject(), seed: seed)
    }

    @Test("A program of the version before works with the next schema as with its own", arguments: UInt64(0)..<3)
    func upgraded(seed: UInt64) throws {
        let subject = try database.subject()
        // Sessions that are open, and one that is opened then: as workers are replaced one by one.
        let steps = Migrations.later.through(Migrations.postgres.newest + 1)
        _ = try database.opening(steps).migrate()
        let opened = try PostgresLedger(try database.configuration())
        try RandomComparison.check(
            ConformanceSubject(ledger: subject.ledger, other: opened, setClock: subject.setClock), seed: seed)
    }
}
