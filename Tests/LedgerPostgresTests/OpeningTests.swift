import Contract
import Foundation
import Ledger
import PostgresTesting
import Testing

@testable import LedgerConformance
@testable import LedgerPostgres

@Suite struct OpeningTests {
    private let database: TemporaryLedger

    init() throws { database = try TemporaryLedger() }

    private func open() -> LedgerError? { ledgerError { _ = try PostgresLedger(database.configuration()) } }

    @Test("A database without a ledger, and a ledger of another version, are told apart, and no worker begins there")
    func versions() throws {
        func detail() -> String {
            guard case .unusable(let detail) = open() else { return "" }
            return detail
        }
        #expect(detail().contains("it has no ledger"))
        #expect(try PostgresLedger.migrate(database.configuration()) == (0, Migrations.postgres.newest))
        #expect(
            try PostgresLedger.migrate(database.configuration()) == (
                Migrations.postgres.newest, Migrations.postgres.newest
            ))
        #expect(open() == nil)
        let newest = Migrations.postgres.newest
        try database.server.run("UPDATE ledger SET version = \(newest + 2)", database: database.database)
        #expect(detail().contains("schema \(newest + 2) is newer than \(newest + 1)"))
        try database.server.run("UPDATE ledger SET version = 0", database: database.database)
        #expect(detail().contains("it has no ledger"))
    }

    @Test("Processes that make one ledger at once make one")
    func migrations() async throws {
        let configuration = try database.configuration()
        let ids = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    try PostgresLedger.migrate(configuration)
                    return try PostgresLedger(configuration).identity()
                }
            }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(ids.count == 1)
    }

    @Test("A tables' owner is needed to make a ledger, and a person is told so")
    func rights() throws {
        let role = "stranger_\(database.database)"
        try database.server.run(
            "CREATE ROLE \(role) LOGIN; REVOKE CREATE ON SCHEMA public FROM PUBLIC", database: database.database)
        defer { _ = try? database.server.run("DROP ROLE \(role)") }
        var configuration = try PostgresLedgerConfiguration(
            url: database.server.url(database: database.database, user: role))
        configuration.settings.demandsFsync = false
        guard case .unusable(let detail) = ledgerError({ try PostgresLedger.migrate(configuration) }) else {
            Issue.record("it made a ledger")
            return
        }
        #expect(detail.contains("permission denied"))
    }

    @Test("A ledger that takes another's place under a worker ends the worker's sessions, all of them")
    func replaced() throws {
        let configuration = try database.configuration()
        try PostgresLedger.migrate(configuration)
        let sessions = [try PostgresLedger(configuration), try PostgresLedger(configuration)]
        try database.server.run("UPDATE ledger SET id = 'another'", database: database.database)
        let wanted = LedgerError.disconnected(
            detail: "\(configuration.options): the connection was lost: another database, or a promoted standby, has "
                + "taken this one's place")
        #expect(ledgerError { _ = try sessions[0].checkpoint([]) } == nil, "nothing was asked")
        let checkpoint = OffsetCheckpoint(ownership: Samples.ownership(), next: 1)
        #expect(ledgerError { _ = try sessions[0].checkpoint([checkpoint]) } == wanted)
        // The other session has not looked yet, and a new one has found the standby that was promoted.
        let place = sessions[1].place
        try database.server.run("UPDATE ledger SET id = '\(place.id)'", database: database.database)
        #expect(ledgerError { _ = try sessions[1].checkpoint([checkpoint]) } == nil)
        try configuration.mark.open(LedgerPlace(id: place.id, timeline: "FFFFFFFF"))
        #expect(ledgerError { _ = try sessions[1].checkpoint([checkpoint]) } == wanted)
    }

    @Test("A write of grants alone finds as well that another ledger has taken its place")
    func replacedUnderFastWrite() throws {
        let subject = try database.subject()
        try subject.own()
        // Only a grant of a product that the session has seen committed is written alone.
        #expect(
            try subject.write(Samples.grant(Samples.submission("s1"), Samples.purchase("1")))[0].outcome
                == .granted(created: 1))
        try database.server.run("UPDATE ledger SET id = 'another'", database: database.database)
        let grant = Samples.grant(Samples.submission("s2"), Samples.purchase("2"))
        guard case .disconnected = ledgerError({ _ = try subject.ledger.write([grant]) }) else {
            Issue.record("it writes on")
            return
        }
    }

    @Test("A product counts as written once a grant of it is: nothing else makes its app the ledger's")
    func knownProducts() throws {
        try database.subject().own()
        let ledger = try PostgresLedger(try database.configuration())
        let stale = Samples.grant(Samples.submission("s1"), Samples.purchase("1"), generation: 0)
        #expect(try ledger.write([stale]) == [.notOwned])
        #expect(ledger.knownProducts.isEmpty)
        _ = try ledger.write([Samples.grant(Samples.submission("s1"), Samples.purchase("1"))])
        #expect(ledger.knownProducts.count == 1)
    }

    @Test("A worker that had its ledger waits for it, whatever a person has to mend")
    func reopened() throws {
        let configuration = try database.configuration()
        try PostgresLedger.migrate(configuration)
        _ = try PostgresLedger(configuration)
        try database.server.run("ALTER TABLE ledger RENAME TO away", database: database.database)
        try database.server.run("ALTER DATABASE \(database.database) RENAME TO \(database.database)_away")
        defer {
            _ = try? database.server.run("ALTER DATABASE \(database.database)_away RENAME TO \(database.database)")
        }
        guard case .disconnected = ledgerError({ _ = try PostgresLedger(configuration) }) else {
            Issue.record("it does not wait")
            return
        }
        guard case .unusable = open() else {
            Issue.record("a new worker waits for what only a person can mend")
            return
        }
    }

    @Test("A primary that does not know of its end is no place for a worker that has seen the next one")
    func outlived() throws {
        let mark = LedgerMark()
        let first = LedgerPlace(id: "a", timeline: "00000001")
        let second = LedgerPlace(id: "a", timeline: "0000000A")
        #expect(failure { try mark.open(first) } == nil && mark.isPresent(first))
        #expect(failure { try mark.open(second) } == nil && !mark.isPresent(first))
        guard case .unreachable = failure({ try mark.open(first) }) else { throw Violation(description: "it is taken") }
        #expect(mark.isPresent(second))
    }

    @Test("A reader beside a worker takes no primary either that the worker knows to have an heir")
    func outlivedReader() throws {
        let configuration = try database.configuration()
        try PostgresLedger.migrate(configuration)
        let ledger = try PostgresLedger(configuration)
        let reading = configuration.reading(within: .seconds(60))
        _ = try PostgresLedger(reading)
        try configuration.mark.open(LedgerPlace(id: ledger.place.id, timeline: "FFFFFFFF"))
        let error = ledgerError { _ = try PostgresLedger(reading) }
        #expect(error?.detail.contains("a standby has taken its place") == true)
    }

    @Test(
        "A host that will not do for the process leaves the next one to be asked",
        arguments: [
            PostgresFailure.unreachable("outlived"), .another("another ledger"), .unfit("no schema is there"),
            .options("a password is wanted"),
        ])
    func nextHost(first: PostgresFailure) throws {
        let server = database.server
        let hosts = "host=\(server.folder),\(server.folder)&port=\(server.port),\(server.port)"
        let options = try PostgresOptions(url: "postgres://postgres@/\(database.database)?\(hosts)&connect_timeout=180")
        var asked = 0
        let connection = try PostgresConnection(options, .forTests) { (_) throws(PostgresFailure) in
            asked += 1
            guard asked > 1 else { throw first }
        }
        #expect(asked == 2 && !connection.isClosed)
        let none = failure {
            _ = try PostgresConnection(options, .forTests) { (_) throws(PostgresFailure) in
                throw first
            }
        }
        // A fault for a person on every host is reported at once.
        let host = "\(server.folder):\(server.port)"
        #expect(none?.text == "no host will do: \(host): \(first.text); \(host): \(first.text)")
        #expect(none?.error(at: "", isOpening: true).word == (first.isPersons ? "unusable" : "unavailable"))
    }

    @Test("A worker that had its ledger ends where a migration has left its version behind")
    func outdated() throws {
        let configuration = try database.configuration()
        try PostgresLedger.migrate(configuration)
        _ = try PostgresLedger(configuration)
        let newest = Migrations.postgres.newest
        try database.server.run("UPDATE ledger SET version = \(newest + 2)", database: database.database)
        guard case .unusable(let detail) = ledgerError({ _ = try PostgresLedger(configuration) }) else {
            Issue.record("it waits for what never comes")
            return
        }
        #expect(detail.contains("schema \(newest + 2) is newer than \(newest + 1)"))
    }

    @Test("A process that had one ledger ends where another has taken its place")
    func anotherLedger() throws {
        let configuration = try database.configuration()
        try PostgresLedger.migrate(configuration)
        let ledger = try PostgresLedger(configuration)
        let id = try ledger.identity()
        try database.server.run("UPDATE ledger SET id = 'another'", database: database.database)
        guard case .disconnected = ledgerError({ _ = try ledger.measure(as: Samples.worker) }),
            case .unusable(let detail) = ledgerError({ _ = try PostgresLedger(configuration) })
        else {
            Issue.record("it works on")
            return
        }
        #expect(detail.contains("it is the ledger another now, and was the ledger \(id)"))
        #expect(open() == nil, "a new process looks at the group's offsets")
    }
}
