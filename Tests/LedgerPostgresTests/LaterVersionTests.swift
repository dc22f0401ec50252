import Contract
import Ledger
import PostgresTesting
import Testing

@testable import LedgerConformance
@testable import LedgerPostgres

/// Rows with words that this version does not know, as a later one writes them beside it.
@Suite struct LaterVersionTests {
    static let grants = [
        "grants SET ownership = 'later'", "grants SET offer = 'later'",
        "grants SET offer = 'trial', offer_discount = 'later'", "grants SET format = 99", "grants SET kind = 7",
        "products SET type = 'later'", "products SET items = 'later'",
    ]
    static let answers = ["answers SET format = 99", "answers SET digest = '\\x00'"]
    static let waiting = ["evidence_kind = 'later'", "environment = 'later'"]
    private static let other = Product(id: "other", type: .consumable, items: [Item(item: "other", quantity: 1)])

    private let database: TemporaryLedger
    private let ledger: PostgresLedger

    init() throws {
        database = try TemporaryLedger()
        let configuration = try database.configuration()
        try PostgresLedger.migrate(configuration)
        ledger = try PostgresLedger(configuration)
        _ = try ledger.takeOver([TakeOver(ownership: Samples.ownership(), owner: "test", committed: nil)])
    }

    private func run(_ sql: String) throws -> String? { try database.server.run(sql, database: database.database) }

    private func write(_ decision: Decision) throws -> DecisionResult? { try ledger.write([decision]).first }

    private func isHeld(_ decision: Decision) throws -> Bool {
        if case .toBeHeld(.laterVersion, _)? = try write(decision) { true } else { false }
    }

    @Test("A grant of a later version keeps what it holds: whoever claims it is held", arguments: grants)
    func claimed(column: String) throws {
        defer { database.remove() }
        let claim = Samples.grant(Samples.submission("s1", offset: 1), Samples.purchase("1"))
        _ = try write(claim)
        _ = try run("UPDATE \(column)")
        #expect(try isHeld(claim), "the same record")
        let another = Samples.grant(Samples.submission("s2", user: "other", offset: 3), Samples.purchase("1"))
        #expect(try isHeld(another), "another user")
        let mixed = Samples.grant(
            Samples.submission("s4", offset: 5), Samples.purchase("1"), Samples.purchase("2", product: Self.other))
        #expect(try isHeld(mixed), "beside a new purchase")
        #expect(try isHeld(Samples.fail(Samples.submission("s1", offset: 1))), "a failure")
        #expect(try run("SELECT (SELECT count(*) FROM grants) + (SELECT count(*) FROM answers)") == "1")
        #expect(try ledger.knownOutcomes(of: [Samples.origin(1)]).isEmpty)
        #expect(try ledger.lookUp([Samples.lookup("1")]) == [nil])
        let waits = Samples.wait(Samples.submission("s1", offset: 1))
        #expect(try write(waits)?.outcome == .retrying(.unreachable), "it waits for that version")
    }

    @Test("A grant of a later version is told by its workers, and hides nothing that is owed", arguments: grants)
    func owed(column: String) throws {
        defer { database.remove() }
        _ = try write(Samples.grant(Samples.submission("s1", offset: 1), Samples.purchase("1")))
        _ = try run("UPDATE \(column)")
        let known = Samples.purchase("2", product: Self.other)
        _ = try write(Samples.grant(Samples.submission("s2", offset: 2), known))
        let keys = ["1", "2"].map { OutboxKey.granted(Samples.reference($0), repeatOf: nil) }
        for key in keys {
            _ = try ledger.owe([OutboxEntry(ownership: Samples.ownership(), key: key, delay: 0, stub: nil)])
        }
        let taken = try ledger.takeOutbox([OutboxRequest(target: .topic(.granted), limit: 1)])
        #expect(taken.map(\.lease.key) == [keys[1]])
        let row = try #require(try ledger.outbox(limit: 9).first { $0.key == keys[0] })
        #expect(row.attempts == 1 && !row.isLeased)
    }

    @Test("A grant of a later version is not erased, and is counted", arguments: grants)
    func erased(column: String) throws {
        defer { database.remove() }
        _ = try write(Samples.grant(Samples.submission("s1", offset: 1), Samples.purchase("1")))
        _ = try run("UPDATE \(column)")
        _ = try write(
            Samples.grant(Samples.submission("s2", offset: 2), Samples.purchase("2", product: Self.other)))
        let note = OperatorNote(actor: "kim", reason: "asked", at: Samples.noon)
        _ = try ledger.checkpoint([OffsetCheckpoint(ownership: Samples.ownership(), next: 3)])
        let rows = ErasureResult.Rows(grants: 1, answers: 0, actions: 0, isComplete: true, later: 1)
        #expect(try ledger.erase(Samples.playersErasure, note) == .done(rows))
        #expect(try run("SELECT count(*) FROM grants WHERE user_id = 'player-1'") == "1")
    }

    @Test("An answer of a later version stands: its submission is held", arguments: answers)
    func answered(column: String) throws {
        defer { database.remove() }
        let submission = Samples.submission("s1", offset: 1)
        _ = try write(Samples.fail(submission))
        _ = try run("UPDATE \(column)")
        #expect(try ledger.knownOutcomes(of: [Samples.origin(1)]).isEmpty)
        #expect(try isHeld(Samples.fail(submission, .bundleMismatch)))
        #expect(try isHeld(Samples.grant(submission, Samples.purchase("2"))), "a grant may contradict it")
        #expect(try write(Samples.wait(submission))?.outcome == .retrying(.unreachable))
    }

    @Test(
        "A row that waits for a later version hides no other",
        arguments: waiting + ["endpoint = 'later/production/'"])
    func due(column: String) throws {
        defer { database.remove() }
        for (index, id) in ["later", "known"].enumerated() {
            let submission = Samples.submission(SubmissionID(id), offset: Int64(index))
            _ = try write(Samples.wait(submission, delay: Int64(index)))
        }
        _ = try run("UPDATE retries SET \(column) WHERE submission_id = 'later'")
        database.clock.set(Samples.later(1000))
        let due = try ledger.takeDue([DueRequest(endpoint: Samples.endpoint, limit: 1)], bytes: .max)
        #expect(due.map(\.submission.id) == ["known"])
        #expect(try ledger.measure(as: Samples.worker).later == 1)
    }

    @Test(
        "A row of the outbox that a later version wrote stays for its workers, hides no other, and is counted",
        arguments: ["key = 'later:1'", "step = 'later'", "target = 'topic:later'", "key = 'granted:later:1'"])
    func outbox(column: String) throws {
        defer { database.remove() }
        for (id, offset) in [("s1", 1), ("s2", 2)] as [(SubmissionID, Int64)] {
            _ = try write(Samples.fail(Samples.submission(id, offset: offset)))
            let key = OutboxKey.failed(Samples.app, id)
            _ = try ledger.owe([OutboxEntry(ownership: Samples.ownership(), key: key, delay: 0, stub: nil)])
        }
        _ = try run("UPDATE outbox SET \(column) WHERE sequence = 1")
        let row = "SELECT concat_ws(' ', due_at, attempts, lease) FROM outbox WHERE sequence = 1"
        let before = try run(row)
        let taken = try ledger.takeOutbox([OutboxRequest(target: .topic(.failed), limit: 1)])
        #expect(taken.map(\.lease.key) == [.failed(Samples.app, "s2")])
        #expect(try run(row) == before)
        #expect(try ledger.measure(as: Samples.worker).later == 1)
    }
}
