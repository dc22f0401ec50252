import Ledger
import PostgresTesting
import Testing

@testable import LedgerPostgres

/// The findings of `grantor check` of a server.
@Suite struct ExaminationTests {
    private func findings(_ database: TemporaryLedger, as role: String? = nil) throws -> [String: LedgerFinding] {
        let user = role.map { database.role($0) } ?? "postgres"
        let url = database.server.url(database: database.database, user: user) + "&connect_timeout=180"
        let findings = try PostgresLedger.examine(PostgresLedgerConfiguration(url: url))
        return Dictionary(uniqueKeysWithValues: findings.map { ($0.subject, $0) })
    }

    @Test("Server, durability, clock, schema and rights are found; what is wrong is said, and not more")
    func all() throws {
        let database = try TemporaryLedger(on: PostgresServer(settings: ["full_page_writes = off"]))
        let before = try findings(database)
        #expect(Set(before.keys) == ["server", "durability", "clock"], "there is no ledger yet")
        try PostgresLedger.migrate(database.configuration())
        try database.makeRoles()
        defer { database.removeRoles() }
        let found = try findings(database, as: "worker")
        let server = try #require(found["server"])
        #expect(server.facts.wholeMatch(of: /PostgreSQL \d+\.\d+, UTF8, collation C, schema public/) != nil)
        let durability = try #require(found["durability"])
        #expect(durability.facts == "fsync off, full_page_writes off, synchronous_commit on, no synchronous standby")
        #expect(durability.failures.count == 1 && durability.warnings.count == 1)
        #expect(found["clock"]?.facts.hasSuffix("this host's") == true)
        #expect(found["schema"] == LedgerFinding("schema", "version \(Migrations.postgres.newest)"))
        #expect(found["rights"] == LedgerFinding("rights", "user \(database.role("worker"))"))
        #expect(found["write"] == LedgerFinding("write", "a row can be written"))
        #expect(try PostgresLedger(database.configuration()).workers().isEmpty, "it was taken back")
    }

    @Test("A user with too few rights fails, and one who may take grants back is warned of")
    func rights() throws {
        let database = try TemporaryLedger()
        try database.withRoles {
            #expect(
                try findings(database, as: "reader")["rights"]?.failures.first?.contains("INSERT on grants") == true)
            let warnings = try findings(database)["rights"]?.warnings
            #expect(warnings?.first?.contains("(UPDATE on grants, DELETE on grants, TRUNCATE on grants)") == true)
            try database.server.run("UPDATE ledger SET version = 9", database: database.database)
            #expect(try findings(database)["schema"]?.failures.first?.contains("schema 9 is newer") == true)
        }
    }

    @Test(
        "Clocks that differ by more than a second are told",
        arguments: [(-1_001, true), (-1_000, false), (1_001, true)])
    func clock(lead: Int64, isTold: Bool) {
        #expect(PostgresExamination.clock(lead: lead).warnings.isEmpty != isTold)
    }
}
