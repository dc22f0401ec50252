import CSQLite
import Contract
import Glibc
import Ledger
import Testing

@testable import LedgerConformance
@testable import LedgerSQLite

@Suite struct MigrationTests {
    private static let newest = Migrations.sqlite.newest
    /// The parts that the later steps here take away.
    private static let parting: Set = ["index grants.grants_later", "column grants.storefront"]

    private let ledger = TemporaryLedger()

    private func unusable(_ body: () throws -> Void) -> String? {
        do {
            try body()
            return nil
        } catch {
            guard case .unusable(let detail)? = error as? LedgerError else { return "\(error)" }
            return detail
        }
    }

    @Test("A ledger of each former version becomes what a new one is, and keeps its rows", arguments: 1...newest)
    func former(version: Int) throws {
        let new = TemporaryLedger()
        #expect(try ledger.opening(.later.through(version)).migrate() == (0, version))
        try ledger.addRows(of: version)
        let before = try ledger.content(of: version, without: Self.parting)
        #expect(before.allSatisfy { $0 != nil })
        #expect(try ledger.opening(.later).migrate() == (version, Self.newest + 2))
        #expect(try ledger.opening(.later).migrate() == (Self.newest + 2, Self.newest + 2))
        #expect(try new.opening(.later).migrate() == (0, Self.newest + 2))
        #expect(try ledger.parts() == new.parts())
        #expect(try ledger.statements() == new.statements())
        #expect(try ledger.content(of: version, without: Self.parting) == before)
    }

    @Test("A step stays as a release has had it")
    func unchanged() {
        #expect(Migrations.sqlite.changes(since: ["26c2a625d3b3bc75"]).isEmpty)
        let changed = Migrations([Migration(1, "the first schema", "sqlite")]).adding("CREATE TABLE more (one integer)")
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
            ("ALTER TABLE outbox RENAME COLUMN target TO place", "column outbox.target"),
            ("DROP INDEX retries_due", "index retries.retries_due"),
            ("CREATE UNIQUE INDEX grants_one ON grants (order_id)", "index grants.grants_one"),
            ("DROP TABLE workers", "column workers.version"),
        ])
    func breaks(sql: String, part: String) throws {
        _ = try ledger.opening(.sqlite).migrate()
        let before = try ledger.parts()
        _ = try ledger.opening(.sqlite.adding(sql)).migrate()
        #expect(try ledger.parts().breaks(before).contains(part))
    }

    @Test("An open connection of the version before sees the same after a step, and so does a new one")
    func read() throws {
        _ = try ledger.opening(.sqlite).migrate()
        try ledger.addRows(of: Self.newest)
        let open = try SQLiteLedger(ledger.configuration)
        let before = try LedgerContent(of: open)
        #expect(try open.grants(GrantQuery()).map(\.grant.submissionID) == ["s1"])
        #expect(try ledger.opening(.later.through(Self.newest + 1)).migrate() == (Self.newest, Self.newest + 1))
        #expect(try LedgerContent(of: open) == before)
        #expect(try LedgerContent(of: SQLiteLedger(ledger.configuration)) == before)
        #expect(try SQLiteLedger.migrate(ledger.configuration) == (Self.newest + 1, Self.newest + 1), "it stays")
    }

    @Test("A program refuses a ledger that is older than its own, and one that is two steps ahead")
    func refused() throws {
        _ = try ledger.opening(.sqlite).migrate()
        let wanted = "schema \(Self.newest) is older than \(Self.newest + 2); grantor migrate brings it up to date"
        #expect(unusable { _ = try ledger.opening(.later).open() }?.contains(wanted) == true)
        _ = try ledger.opening(.later).migrate()
        let words = "newer than \(Self.newest + 1)"
        #expect(unusable { _ = try ledger.opening(.sqlite).open() }?.contains(words) == true)
        #expect(unusable { _ = try ledger.opening(.sqlite).migrate() }?.contains(words) == true)
    }

    @Test("A step that fails leaves nothing, and can be carried out again")
    func failed() throws {
        _ = try ledger.opening(.sqlite).migrate()
        try ledger.addRows(of: Self.newest)
        let before = (try ledger.statements(), try ledger.content(of: Self.newest))
        let step = Migrations.later.steps[Self.newest].sql + "UPDATE grants SET price = 0; SELECT nonsense;"
        let failed = unusable { _ = try ledger.opening(.sqlite.adding(step)).migrate() }
        #expect(failed?.contains("step \(Self.newest + 1) (one more): ") == true, "\(failed ?? "it was carried out")")
        #expect(try ledger.statements() == before.0)
        #expect(try ledger.content(of: Self.newest) == before.1)
        #expect(try ledger.opening(.later).migrate() == (Self.newest, Self.newest + 2))
    }

    @Test("A process that is killed within a step leaves nothing of it")
    func killed() async throws {
        let new = TemporaryLedger()
        let path = ledger.path
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            addKillFunction()
            let configuration = SQLiteLedgerConfiguration(path: path)
            try SQLiteLedger.migrate(configuration)
            let database = try Database(path: path, creating: false, busyTimeout: 0)
            try database.run("INSERT INTO products VALUES (1, 'a', '', '', '')")
            let step = Migrations.later.steps[Migrations.sqlite.newest].sql
            let steps = Migrations.sqlite.adding(step + "UPDATE products SET app = 'b'; SELECT kill();")
            _ = try SQLiteOpening(configuration: configuration, migrations: steps).migrate()
        }
        _ = try new.opening(.sqlite).migrate()
        #expect(try ledger.statements() == new.statements())
        #expect(try ledger.connected().text("SELECT app FROM products") == "a")
        #expect(try ledger.opening(.later).migrate() == (Self.newest, Self.newest + 2))
    }

    @Test(
        "Steps with a gap or in another order are carried out nowhere",
        arguments: [[2], [1, 3], [2, 1], [1, 1], [0, 1]])
    func order(versions: [Int]) throws {
        let steps = Migrations(versions.map { Migration($0, "a step", "CREATE TABLE t\($0) (one INTEGER);") })
        let refused = unusable { _ = try ledger.opening(steps).migrate() }
        #expect(refused?.contains("(a step) in the place of") == true)
        #expect(access(ledger.path, F_OK) != 0, "not even a file is made")
        #expect(Migrations.sqlite.fault == nil)
    }

    @Test("Threads that migrate at once carry a step out once, and one that comes late does nothing")
    func atOnce() async throws {
        _ = try ledger.opening(.sqlite).migrate()
        try ledger.addRows(of: Self.newest)
        let steps = Migrations.sqlite.adding("UPDATE grants SET attempts = attempts + 1;")
        let ledger = ledger
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<3 { group.addTask { _ = try ledger.opening(steps).migrate() } }
            try await group.waitForAll()
        }
        #expect(try ledger.connected().number("SELECT attempts FROM grants") == 2)
        // Its look at the version was before the other's commit.
        let late = try ledger.connected()
        try late.write { () throws(StoreError) in
            try ledger.opening(steps).carryOut(steps.steps[Self.newest], in: late)
        }
        #expect(try late.number("SELECT attempts FROM grants") == 2)
    }
}

/// Gives each connection of this process a function that kills it.
private func addKillFunction() {
    typealias Extension = @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?, UnsafeRawPointer?) -> CInt
    let function: Extension = { connection, _, _ in
        sqlite3_create_function(
            connection, "kill", 0, SQLITE_UTF8, nil, { _, _, _ in _ = kill(getpid(), SIGKILL) }, nil, nil)
    }
    sqlite3_auto_extension(unsafeBitCast(function, to: (@convention(c) () -> Void).self))
}
