import Contract
import Ledger
import PostgresTesting
import Testing

@testable import LedgerConformance
@testable import LedgerPostgres

@Suite struct MigrationTests {
    private static let newest = Migrations.postgres.newest
    /// The parts that the later steps here take away.
    private static let parting: Set = ["index grants.grants_later", "column grants.storefront"]

    private let ledger: TemporaryLedger

    init() throws { ledger = try TemporaryLedger() }

    private func detail(_ body: () throws -> Void) -> (word: String, text: String)? {
        do {
            try body()
            return nil
        } catch {
            return (error as? LedgerError).map { ($0.word, $0.detail) } ?? ("another", "\(error)")
        }
    }

    @Test("A ledger of each former version becomes what a new one is, and keeps its rows", arguments: 1...newest)
    func former(version: Int) throws {
        let new = try TemporaryLedger()
        #expect(try ledger.opening(.later.through(version)).migrate() == (0, version))
        try ledger.addRows(of: version)
        let before = try ledger.content(of: version, without: Self.parting)
        #expect(before.allSatisfy { $0 != nil })
        #expect(try ledger.opening(.later).migrate() == (version, Self.newest + 2))
        #expect(try ledger.opening(.later).migrate() == (Self.newest + 2, Self.newest + 2))
        #expect(try new.opening(.later).migrate() == (0, Self.newest + 2))
        #expect(try ledger.parts() == new.parts())
        #expect(try ledger.content(of: version, without: Self.parting) == before)
    }

    @Test("A step stays as a release has had it")
    func unchanged() {
        #expect(Migrations.postgres.changes(since: ["c754b6a6321a2204"]).isEmpty)
        let changed = Migrations([Migration(1, "the first schema", "postgres")]).adding(
            "CREATE TABLE more (one integer)")
        let changes = changed.changes(since: ["0000000000000000"])
        #expect(changes.count == 2 && changes.first?.contains("take the change back, and add a step") == true)
    }

    @Test("No step breaks the programs of the version before", arguments: 1..<Migrations.later.newest)
    func onlyAdds(version: Int) throws {
        _ = try ledger.opening(.later.through(version)).migrate()
        let before = try ledger.parts()
        _ = try ledger.opening(.later.through(version + 1)).migrate()
        // A step that takes something away names it here, and says why nobody uses it any more.
        let parting = version == Self.newest + 1 ? Self.parting : []
        #expect(try ledger.parts().breaks(before, parting: parting).isEmpty)
    }

    @Test(
        "A step that would break them is noticed",
        arguments: [
            ("ALTER TABLE grants DROP COLUMN price", "column grants.price"),
            ("ALTER TABLE grants ALTER COLUMN quantity TYPE bigint", "column grants.quantity"),
            ("ALTER TABLE outbox RENAME COLUMN target TO place", "column outbox.target"),
            ("ALTER TABLE answers ADD COLUMN later text NOT NULL", "column answers.later"),
            ("DROP INDEX retries_due", "index retries.retries_due"),
            ("CREATE UNIQUE INDEX grants_one ON grants (order_id)", "index grants.grants_one"),
            ("ALTER TABLE grants ADD CONSTRAINT few CHECK (attempts < 9)", "constraint grants.few"),
            ("DROP TABLE measure", "column measure.content"),
        ])
    func breaks(sql: String, part: String) throws {
        _ = try ledger.opening(.postgres).migrate()
        let before = try ledger.parts()
        _ = try ledger.opening(.postgres.adding(sql)).migrate()
        #expect(try ledger.parts().breaks(before).contains(part))
    }

    @Test("Open sessions of the version before see the same after a step, and so do new ones")
    func read() throws {
        let subject = try ledger.subject()
        try ledger.addRows(of: Self.newest)
        let before = try LedgerContent(of: subject.ledger)
        #expect(try subject.ledger.grants(GrantQuery()).map(\.grant.submissionID) == ["s1"])
        #expect(try ledger.opening(.later.through(Self.newest + 1)).migrate() == (Self.newest, Self.newest + 1))
        #expect(try LedgerContent(of: subject.ledger) == before)
        #expect(try LedgerContent(of: PostgresLedger(ledger.configuration())) == before)
        #expect(try PostgresLedger.migrate(ledger.configuration()) == (Self.newest + 1, Self.newest + 1), "it stays")
    }

    @Test("A program refuses a ledger that is older than its own, and one that is two steps ahead")
    func refused() throws {
        _ = try ledger.opening(.postgres).migrate()
        let older = detail { _ = try ledger.opening(.later).open() }
        #expect(older?.word == "unusable")
        let wanted = "schema \(Self.newest) is older than \(Self.newest + 2); grantor migrate brings it up to date"
        #expect(older?.text.contains(wanted) == true)
        _ = try ledger.opening(.later).migrate()
        for newer in [
            detail { _ = try ledger.opening(.postgres).open() }, detail { _ = try ledger.opening(.postgres).migrate() },
        ] {
            #expect(newer?.word == "unusable")
            #expect(newer?.text.contains("newer than \(Self.newest + 1)") == true)
        }
    }

    @Test(
        "A step that is interrupted leaves nothing, and can be carried out again",
        arguments: [
            // A statement fails. Or the session ends in the middle, as with its process or its server.
            ("SELECT 1 / 0", "unusable", "step \(newest + 1) (one more): "),
            ("SELECT pg_terminate_backend(pg_backend_pid())", "unavailable", "terminating connection"),
        ])
    func interrupted(last: String, word: String, text: String) throws {
        _ = try ledger.opening(.postgres).migrate()
        try ledger.addRows(of: Self.newest)
        let before = (try ledger.parts(), try ledger.content(of: Self.newest))
        let step = Migrations.later.steps[Self.newest].sql + "UPDATE grants SET price = 0;"
        let failed = detail { _ = try ledger.opening(.postgres.adding(step + last)).migrate() }
        #expect(failed?.word == word)
        #expect(failed?.text.contains(text) == true, "\(failed?.text ?? "it was carried out")")
        #expect(try ledger.parts() == before.0)
        #expect(try ledger.content(of: Self.newest) == before.1)
        #expect(try ledger.opening(.later).migrate() == (Self.newest, Self.newest + 2))
    }

    @Test(
        "Steps with a gap or in another order are carried out nowhere",
        arguments: [[2], [1, 3], [2, 1], [1, 1], [0, 1]])
    func order(versions: [Int]) throws {
        let steps = Migrations(versions.map { Migration($0, "a step", "CREATE TABLE t\($0) (one integer);") })
        let refused = detail { _ = try ledger.opening(steps).migrate() }
        #expect(refused?.word == "unusable")
        #expect(refused?.text.contains("(a step) in the place of") == true)
        #expect(try ledger.parts().isEmpty)
        #expect(Migrations.postgres.fault == nil)
    }

    @Test("Processes that migrate at once carry a step out once")
    func atOnce() throws {
        _ = try ledger.opening(.postgres).migrate()
        try ledger.addRows(of: Self.newest)
        let other = try PostgresConnection(ledger.configuration().options, .forTests)
        try other.script("BEGIN; SELECT FROM ledger FOR UPDATE")
        let opening = try ledger.opening(.postgres.adding("UPDATE grants SET attempts = attempts + 1;"))
        let processes = (0..<3).map { _ in
            Working {
                let versions = try opening.migrate()
                return [versions.from, versions.to]
            }
        }
        // All of them have looked at the version when the first may go on.
        let waiting = """
            SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
            """
        while try !processes.contains(where: \.isDone) && ledger.server.run(waiting, database: ledger.database) != "3" {
        }
        try other.script("COMMIT")
        for process in processes { #expect(try process.result() == [Self.newest, Self.newest + 1]) }
        #expect(try ledger.server.run("SELECT attempts FROM grants", database: ledger.database) == "2")
    }

    @Test("A step may take long, and waits for a table no longer than workers can wait behind it")
    func limits() throws {
        _ = try ledger.opening(.postgres).migrate()
        let found = "SELECT current_setting('statement_timeout') || ' ' || current_setting('lock_timeout') AS found"
        _ = try ledger.opening(.postgres.adding("CREATE TABLE limits AS \(found);")).migrate()
        #expect(try ledger.server.run("SELECT found FROM limits", database: ledger.database) == "1h 160s")
        let other = try PostgresConnection(ledger.configuration().options, .forTests)
        try other.script("BEGIN; LOCK TABLE grants IN ROW EXCLUSIVE MODE")
        let steps = Migrations.postgres.adding("").adding("ALTER TABLE grants ADD COLUMN later text;")
        var configuration = try ledger.configuration()
        configuration.settings.lock = .milliseconds(100)
        let hasty = PostgresOpening(configuration: configuration, migrations: steps)
        let waited = detail { _ = try hasty.migrate() }
        #expect(waited?.word == "unavailable")
        #expect(waited?.text.contains("another transaction holds a lock") == true)
        try other.rollBack()
        #expect(try hasty.migrate() == (Self.newest + 1, Self.newest + 2))
    }
}
