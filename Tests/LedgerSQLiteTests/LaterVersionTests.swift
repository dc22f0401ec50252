import Contract
import Ledger
import Testing

@testable import LedgerConformance
@testable import LedgerSQLite

/// A ledger in which a later version wrote some columns: words that this version does not know stand in them.
struct LaterLedger {
    let file = TemporaryLedger()
    let ledger: SQLiteLedger

    init() throws {
        try SQLiteLedger.migrate(file.configuration)
        ledger = try SQLiteLedger(file.configuration)
        _ = try ledger.takeOver([TakeOver(ownership: Samples.ownership(), owner: "test", committed: nil)])
    }

    static let product = Product(id: "other", type: .consumable, items: [Item(item: "other", quantity: 1)])

    static func isHeld(_ result: DecisionResult?) -> Bool {
        if case .toBeHeld(.laterVersion, _)? = result { true } else { false }
    }

    func write(_ decision: Decision) throws -> DecisionResult? { try ledger.write([decision]).first }
}

@Suite("Grants of a later version")
struct LaterGrantTests {
    static let columns = [
        "grants SET ownership = 'later'", "grants SET offer = 'later'",
        "grants SET offer = 'trial', offer_discount = 'later'", "grants SET format = 99", "grants SET kind = 7",
        "products SET type = 'later'", "products SET items = 'later'",
    ]

    /// A ledger with a grant of s1, of a later version, and a claim of it.
    private func later(_ column: String) throws -> (LaterLedger, Decision) {
        let later = try LaterLedger()
        let claim = Samples.grant(Samples.submission("s1", offset: 1), Samples.purchase("1"))
        #expect(try later.write(claim)?.outcome == .granted(created: 1))
        try later.ledger.database.run("UPDATE \(column)")
        return (later, claim)
    }

    @Test("keep what they hold: whoever claims it is held", arguments: columns)
    func claims(column: String) throws {
        let (later, claim) = try later(column)
        defer { later.file.remove() }
        #expect(LaterLedger.isHeld(try later.write(claim)), "the same record")
        let again = Samples.grant(Samples.submission("s1", offset: 2), Samples.purchase("1"))
        #expect(LaterLedger.isHeld(try later.write(again)), "the same submission from another record")
        let another = Samples.grant(Samples.submission("s2", user: "other", offset: 3), Samples.purchase("1"))
        #expect(LaterLedger.isHeld(try later.write(another)), "another user")
        let restored = Samples.grant(
            Samples.submission("s3", offset: 4),
            Samples.purchase("9", original: "1", product: Samples.gems(.nonConsumable, 120)))
        #expect(LaterLedger.isHeld(try later.write(restored)), "its key")
        let mixed = Samples.grant(
            Samples.submission("s4", offset: 5), Samples.purchase("1"),
            Samples.purchase("2", product: LaterLedger.product))
        #expect(LaterLedger.isHeld(try later.write(mixed)), "beside a new purchase")
        let found = Samples.decision(
            Samples.submission("s5", offset: 6), .repeated(Samples.reference("1")))
        #expect(LaterLedger.isHeld(try later.write(found)), "found by a look-up before")
        #expect(LaterLedger.isHeld(try later.write(Samples.fail(Samples.submission("s1", offset: 1)))), "a failure")
        #expect(try later.ledger.database.number("SELECT count(*) FROM grants") == 1, "nothing is granted beside it")
        #expect(try later.ledger.database.number("SELECT count(*) FROM answers") == 0, "and nothing is answered")
        let waits = Samples.wait(Samples.submission("s1", offset: 1))
        #expect(try later.write(waits)?.outcome == .retrying(.unreachable), "it waits for that version")
    }

    @Test("are no known outcome, and answer no look-up", arguments: columns + ["grants SET environment = 2"])
    func lookUps(column: String) throws {
        let (later, claim) = try later(column)
        defer { later.file.remove() }
        let two = Samples.grant(
            Samples.submission("s2", offset: 2), Samples.purchase("2", product: LaterLedger.product),
            Samples.purchase("3", product: LaterLedger.product))
        #expect(try later.write(two)?.outcome == .granted(created: 2))
        try later.ledger.database.run("UPDATE grants SET format = 99 WHERE transaction_id = '3'")
        #expect(try later.ledger.knownOutcomes(of: [1, 2].map(Samples.origin)).isEmpty, "not even in part")
        #expect(try later.ledger.lookUp([Samples.lookup("1")]) == [nil])
        #expect(LaterLedger.isHeld(try later.write(Samples.fail(Samples.submission("s1", offset: 1)))))
        let key = SubmissionKey(bundleID: Samples.app, submissionID: "s1")
        #expect(try later.ledger.submission(key).later == 1)
        #expect(try later.ledger.grants(GrantQuery(limit: 1)).map(\.grant.transactionID) == ["2"])
        _ = claim
    }

    @Test("are told by their version's workers, and hide nothing that is owed", arguments: columns)
    func owed(column: String) throws {
        let (later, _) = try later(column)
        defer { later.file.remove() }
        let known = Samples.grant(
            Samples.submission("s2", offset: 2), Samples.purchase("2", product: LaterLedger.product))
        _ = try later.write(known)
        let keys = ["1", "2"].map { OutboxKey.granted(Samples.reference($0), repeatOf: nil) }
        for key in keys {
            _ = try later.ledger.owe([OutboxEntry(ownership: Samples.ownership(), key: key, delay: 0, stub: nil)])
        }
        let taken = try later.ledger.takeOutbox([OutboxRequest(target: .topic(.granted), limit: 1)])
        #expect(taken.map(\.lease.key) == [keys[1]])
        let row = try #require(try later.ledger.outbox(limit: 9).first { $0.key == keys[0] })
        #expect(row.attempts == 1 && !row.isLeased)
    }

    @Test("are not erased, and are counted", arguments: columns)
    func erased(column: String) throws {
        let (later, _) = try later(column)
        defer { later.file.remove() }
        let known = Samples.grant(
            Samples.submission("s2", offset: 2), Samples.purchase("2", product: LaterLedger.product))
        _ = try later.write(known)
        let note = OperatorNote(actor: "kim", reason: "asked", at: Samples.noon)
        _ = try later.ledger.checkpoint([OffsetCheckpoint(ownership: Samples.ownership(), next: 3)])
        let rows = ErasureResult.Rows(grants: 1, answers: 0, actions: 0, isComplete: true, later: 1)
        #expect(try later.ledger.erase(Samples.playersErasure, note) == .done(rows))
        #expect(try later.ledger.database.number("SELECT count(*) FROM grants WHERE user_id = 'player-1'") == 1)
    }

    @Test("with a word of their verifier alone are like others")
    func verifier() throws {
        let (later, claim) = try later("grants SET verified_by = 'later'")
        defer { later.file.remove() }
        #expect(try later.write(claim)?.outcome == .redelivery)
    }
}

@Suite("Answers of a later version")
struct LaterAnswerTests {
    @Test("stand: their submission is held", arguments: ["format = 99", "digest = x'00'"])
    func failures(column: String) throws {
        let later = try LaterLedger()
        defer { later.file.remove() }
        _ = try later.write(Samples.fail(Samples.submission("s1", offset: 1)))
        try later.ledger.database.run("UPDATE answers SET \(column)")
        try check(later)
    }

    @Test(
        "stand where another submission's grant answers, too",
        arguments: [
            "answers SET environment = 2", "grants SET format = 99",
        ])
    func repeats(column: String) throws {
        let later = try LaterLedger()
        defer { later.file.remove() }
        _ = try later.write(Samples.grant(Samples.submission("s0", offset: 0), Samples.purchase("1")))
        let copy = Samples.grant(Samples.submission("s1", offset: 1), Samples.purchase("1"))
        #expect(try later.write(copy)?.outcome == .repeated)
        try later.ledger.database.run("UPDATE \(column)")
        #expect(LaterLedger.isHeld(try later.write(copy)))
        try check(later, grants: column.contains("answers"))
    }

    private func check(_ later: LaterLedger, grants: Bool = true) throws {
        let submission = Samples.submission("s1", offset: 1)
        #expect(try later.ledger.knownOutcomes(of: [Samples.origin(1)]).isEmpty)
        #expect(LaterLedger.isHeld(try later.write(Samples.fail(submission, .bundleMismatch))))
        let new = Samples.grant(submission, Samples.purchase("2", product: LaterLedger.product))
        if grants {
            #expect(LaterLedger.isHeld(try later.write(new)), "a grant may contradict it")
            #expect(try later.ledger.submission(submission.claimant.submissionKey).later == 1)
        }
        #expect(try later.write(Samples.wait(submission))?.outcome == .retrying(.unreachable))
    }

    @Test("with a word of their reason alone are like others")
    func reason() throws {
        let later = try LaterLedger()
        defer { later.file.remove() }
        let failure = Samples.fail(Samples.submission("s1", offset: 1))
        _ = try later.write(failure)
        try later.ledger.database.run("UPDATE answers SET reason = 'later'")
        #expect(try later.write(failure)?.outcome == .failed(reason: "later"))
        #expect(try later.ledger.submissions(SubmissionQuery(state: .failed)).map(\.cause) == ["later"])
    }
}

@Suite("Rows of a later version that wait")
struct LaterVersionTests {
    private static let request = DueRequest(endpoint: Samples.endpoint, limit: 1)
    static let columns = ["evidence_kind = 'later'", "environment = 'later'"]

    /// Two rows of `retries` that are due; a later version wrote the first of them.
    private static func withRows(_ column: String, _ body: (SQLiteLedger) throws -> Void) throws {
        let later = try LaterLedger()
        defer { later.file.remove() }
        for (index, id) in ["later", "known"].enumerated() {
            let submission = Samples.submission(SubmissionID(id), offset: Int64(index))
            _ = try later.write(Samples.wait(submission, delay: Int64(index)))
        }
        try later.ledger.database.run("UPDATE retries SET \(column) WHERE submission_id = 'later'")
        later.file.clock.set(Samples.later(1000))
        try body(later.ledger)
    }

    @Test("hide no other row that is due", arguments: columns + ["endpoint = 'later/production/'"])
    func due(column: String) throws {
        try Self.withRows(column) { ledger in
            let due = try ledger.takeDue([Self.request], bytes: .max)
            #expect(due.map(\.submission.id) == ["known"])
            #expect(try ledger.measure(as: Samples.worker).later == 1)
        }
    }

    @Test("hide no other row that is suspect", arguments: columns)
    func suspect(column: String) throws {
        try Self.withRows(column) { ledger in
            try ledger.database.run("UPDATE retries SET takings = 2, leased_until = due_at")
            let due = try ledger.takeDue([], bytes: .max)
            #expect(due.map(\.submission.id) == ["known"])
            let more = try ledger.takeDue([], bytes: .max)
            #expect(more.isEmpty, "it is leased now")
        }
    }

    @Test("are known outcomes and stand in lists, whatever their evidence is", arguments: columns)
    func known(column: String) throws {
        try Self.withRows(column) { ledger in
            let outcomes = try ledger.knownOutcomes(of: [0, 1].map(Samples.origin))
            #expect(outcomes.map(\.kind) == [.waiting, .waiting])
            let list = try ledger.submissions(SubmissionQuery(state: .retrying))
            #expect(list.map(\.claimant.submissionID) == ["known", "later"])
            let key = SubmissionKey(bundleID: Samples.app, submissionID: "later")
            #expect(try ledger.submission(key).later == 1)
        }
    }

    @Test("for a word of a later version are taken as the least that it can mean", arguments: [true, false])
    func cause(isHeld: Bool) throws {
        let endpoint = isHeld ? ", endpoint = NULL" : ""
        try Self.withRows("cause = 'later'\(endpoint)") { ledger in
            let endpoint = isHeld ? nil : Samples.endpoint
            let due = try ledger.takeDue([DueRequest(endpoint: endpoint, limit: 1)], bytes: .max)
            #expect(due.map(\.cause) == [isHeld ? .held(.unknownAnswer) : .retrying(.noAnswer, Samples.endpoint)])
        }
    }

    @Test(
        "of the outbox stay for its workers, hide no other, and are counted",
        arguments: ["key = 'later:1'", "step = 'later'", "target = 'topic:later'", "key = 'granted:later:1'"])
    func outbox(column: String) throws {
        let later = try LaterLedger()
        defer { later.file.remove() }
        for id in ["s1", "s2"] as [SubmissionID] {
            _ = try later.write(Samples.fail(Samples.submission(id, offset: id == "s1" ? 1 : 2)))
            let key = OutboxKey.failed(Samples.app, id)
            _ = try later.ledger.owe([OutboxEntry(ownership: Samples.ownership(), key: key, delay: 0, stub: nil)])
        }
        try later.ledger.database.run("UPDATE outbox SET \(column) WHERE sequence = 1")
        let before = try later.ledger.database.text("SELECT due_at || attempts || lease FROM outbox WHERE sequence = 1")
        let taken = try later.ledger.takeOutbox([OutboxRequest(target: .topic(.failed), limit: 1)])
        #expect(taken.map(\.lease.key) == [.failed(Samples.app, "s2")])
        let after = try later.ledger.database.text("SELECT due_at || attempts || lease FROM outbox WHERE sequence = 1")
        #expect(before == after)
        #expect(try later.ledger.measure(as: Samples.worker).later == 1)
    }
}
