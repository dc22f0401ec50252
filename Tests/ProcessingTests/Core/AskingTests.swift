import Contract
import Ledger
import Scheduling
import Testing

@testable import Processing

@Suite("A submission that Apple has to be asked about")
struct AskingTests {
    private let bench = CoreBench()

    /// Reads a record whose check ends with a question, and gives the attempt.
    private func ask(
        _ offset: Int64 = 0, in assignment: Assignment, options: DecisionOptions = DecisionOptions()
    ) throws -> AttemptTask {
        let check = try #require(bench.read(offset, in: assignment).first)
        bench.ask(check, options: options)
        return try #require(bench.takeAttempts().first)
    }

    private func entry(_ batch: WriteBatch) throws -> RetryEntry {
        guard case .wait(let entry) = try #require(batch.decisions.first).content else {
            throw NotInRetries()
        }
        return entry
    }

    private struct NotInRetries: Error {}

    @Test("is asked at once where its gate is open, and written with the verdict")
    func verdict() throws {
        let attempt = try ask(in: try bench.own())
        #expect(attempt.question.endpoint == Fixture.verifyReceipt)
        bench.attempted(attempt, .concluded(.verified([Fixture.purchase("t1")], by: .verifyReceipt)))
        let batch = try bench.written(.written(.granted(created: 1), publish: []))
        #expect(batch.decisions.map(\.content) == [.grant([Fixture.purchase("t1")], by: .verifyReceipt)])
        #expect(batch.decisions.map(\.attempts) == [1])
    }

    @Test("waits for the gate of the other environment after a hop, as a part of the same attempt")
    func hop() throws {
        let attempt = try ask(in: try bench.own())
        bench.attempted(attempt, .next(Fixture.question(Fixture.sandbox)))
        let next = try #require(bench.takeAttempts().first)
        #expect(next.question.endpoint == Fixture.sandbox)
        #expect(next.attempts == 0)
    }

    @Test("comes to a checker where Apple's reply holds signatures")
    func verifying() throws {
        let attempt = try ask(in: try bench.own())
        bench.attempted(attempt, .check(Fixture.question()))
        let check = try #require(bench.takeChecks().first)
        guard case .reply = check.work else {
            Issue.record("the reply is checked")
            return
        }
        bench.send(
            .checked([Checked(token: check.token, result: .reply(.concluded(Fixture.verified("t1"))))]))
        try bench.written(.written(.granted(created: 1), publish: []))
    }

    @Test("goes to `retries` behind a check of its receipt's signature where a checker doubts the reply")
    func doubted() throws {
        let attempt = try ask(in: try bench.own())
        bench.attempted(attempt, .check(Fixture.question()))
        let check = try #require(bench.takeChecks().first)
        bench.isSigned = true
        let rejection = Rejection(.receiptMalformed, "Apple cannot read it.")
        let doubt = Verdict.doubt(.perhapsMalformed, becomes: .rejected(rejection))
        bench.send(.checked([Checked(token: check.token, result: .reply(.concluded(doubt)))]))
        let content = try #require(bench.takeWrites().first?.decisions.first?.content)
        guard case .wait(let entry) = content else {
            Issue.record("it waits")
            return
        }
        #expect(entry.isSigned)
    }

    @Test("is answered by a grant of the user's, without a call")
    func lookedUp() throws {
        let check = try #require(bench.read(0, in: try bench.own()).first)
        let lookUp = GrantLookup(
            bundleID: Fixture.app, userID: "u1", transactionID: "t1", environment: nil, orderID: nil, productID: nil)
        bench.ask(check, Fixture.question(Fixture.serverAPI), lookUp: lookUp)
        let (id, questions) = try #require(bench.takeRequest { if case .lookUp(let list) = $0 { list } else { nil } })
        #expect(questions == [lookUp])
        let grant = GrantReference(environment: .production, transactionID: "t1")
        bench.send(.ledger(id, .success(.lookedUp([grant]))))
        #expect(bench.takeAttempts().isEmpty)
        let batch = try bench.written(.written(.repeated, publish: [Fixture.rendered("t1")]))
        #expect(batch.decisions.map(\.content) == [.repeated(grant)])
    }

    @Test("is asked where the grant that answered it is not there any more: the ledger was set back")
    func grantIsGone() throws {
        let check = try #require(bench.read(0, in: try bench.own()).first)
        let lookUp = GrantLookup(
            bundleID: Fixture.app, userID: "u1", transactionID: "t1", environment: nil, orderID: nil, productID: nil)
        bench.ask(check, Fixture.question(Fixture.serverAPI), lookUp: lookUp)
        let (id, _) = try #require(bench.takeRequest { if case .lookUp(let list) = $0 { list } else { nil } })
        let grant = GrantReference(environment: .production, transactionID: "t1")
        bench.send(.ledger(id, .success(.lookedUp([grant]))))
        try bench.written(.undecided)
        #expect(bench.takeAttempts().count == 1)
    }

    @Test("is asked where no grant answers it")
    func notLookedUp() throws {
        let check = try #require(bench.read(0, in: try bench.own()).first)
        let lookUp = GrantLookup(
            bundleID: Fixture.app, userID: "u1", transactionID: "t1", environment: nil, orderID: nil, productID: nil)
        bench.ask(check, Fixture.question(Fixture.serverAPI), lookUp: lookUp)
        let (id, _) = try #require(bench.takeRequest { if case .lookUp(let list) = $0 { list } else { nil } })
        bench.send(.ledger(id, .success(.lookedUp([nil]))))
        #expect(bench.takeAttempts().map(\.question.endpoint) == [Fixture.serverAPI])
    }

    @Test("is asked again within five seconds where nothing was heard, at most three times, and then waits in retries")
    func repeated() throws {
        var attempt = try ask(in: try bench.own())
        var asked = 0
        let began = bench.now
        while asked < 10 {
            asked += 1
            bench.attempted(attempt, .concluded(.retry(.unreachable, notBefore: nil)), .failed, took: .zero)
            bench.wait(.seconds(3))
            guard let next = bench.takeAttempts().first else { break }
            attempt = next
        }
        #expect((2...4).contains(asked))
        #expect(bench.now - began < .seconds(15))
        let batch = try bench.written(.written(.retrying(.unreachable), publish: []))
        let entry = try entry(batch)
        #expect(entry.cause == .retrying(.unreachable, Fixture.verifyReceipt))
        #expect(entry.history.attempts.count == asked)
        #expect(bench.core.inFlight == 0, "its offset may be passed")
    }

    @Test("waits in retries until the moment that Apple named")
    func notBefore() throws {
        let attempt = try ask(in: try bench.own())
        let moment = bench.wall.advanced(by: .seconds(600))
        bench.attempted(attempt, .concluded(.retry(.temporarilyUnable, notBefore: moment)))
        let entry = try entry(bench.written(.written(.retrying(.temporarilyUnable), publish: [])))
        #expect(entry.delay >= 600_000)
    }

    @Test("has its signature looked at on its way to retries, which decides nothing while Apple answers others")
    func signedAndAsked() throws {
        bench.isSigned = nil
        let attempt = try ask(in: try bench.own())
        let moment = bench.wall.advanced(by: .seconds(60))
        bench.attempted(attempt, .concluded(.retry(.temporarilyUnable, notBefore: moment)))
        let check = try #require(bench.takeChecks().first)
        guard case .signature(_, mayDecide: false) = check.work else {
            Issue.record("the signature")
            return
        }
        bench.send(.checked([Checked(token: check.token, result: .signature(holds: true, nil))]))
        let entry = try entry(bench.written(.written(.retrying(.temporarilyUnable), publish: [])))
        #expect(entry.isSigned)
        #expect(entry.delay >= 60_000)
    }

    @Test("is held where our own side has to be mended, due within one to five minutes")
    func held() throws {
        let attempt = try ask(in: try bench.own())
        bench.attempted(attempt, .concluded(.hold(.sharedSecretRefused, detail: "21004")))
        let entry = try entry(bench.written(.written(.held(.sharedSecretRefused), publish: [])))
        #expect(entry.cause == .held(.sharedSecretRefused))
        #expect((60_000...300_000).contains(entry.delay))
    }

    @Test("waits in retries with a doubt where Apple's no may not be its last word")
    func doubt() throws {
        let attempt = try ask(in: try bench.own())
        let rejection = Rejection(.transactionNotFound, "Apple does not know it.")
        bench.attempted(attempt, .concluded(.doubt(.notFoundYet, becomes: .rejected(rejection))))
        let entry = try entry(bench.written(.written(.retrying(.notFoundYet), publish: [])))
        #expect(entry.doubt?.replies == 1)
        #expect(entry.doubt?.elapsed == 0)
        #expect(entry.doubt?.runningSince == entry.history.attempts.first?.at)
    }

    @Test("is a doubt where the ledger says that nothing in it is new")
    func nothingNew() throws {
        let attempt = try ask(in: try bench.own(), options: DecisionOptions(doubtsNothingNew: true))
        bench.attempted(attempt, .concluded(.verified([Fixture.purchase("t1")], by: .verifyReceipt)))
        let first = try bench.written(.nothingNew)
        #expect(first.decisions.map(\.doubtsNothingNew) == [true])
        let entry = try entry(bench.written(.written(.retrying(.nothingNew), publish: [])))
        #expect(entry.doubt?.replies == 1)
        #expect(bench.core.inFlight == 0)
    }

    @Test("is held where nothing in it is new, and the apps file lacks a product that Apple attests")
    func lacksProduct() throws {
        let attempt = try ask(in: try bench.own(), options: DecisionOptions(doubtsNothingNew: true))
        bench.attempted(attempt, .concluded(.verified([lacking()], by: .verifyReceipt)))
        try bench.written(.toBeHeld(.productNotConfigured, detail: lacking().passedOver?.unlistedProducts ?? ""))
        let entry = try entry(bench.written(.written(.held(.productNotConfigured), publish: [])))
        #expect(entry.cause == .held(.productNotConfigured) && entry.doubt == nil)
        #expect(entry.detail == "Apple attests what the apps file does not list: new.")
        #expect(bench.core.inFlight == 0)
    }

    @Test("is held for such a product also where nobody had to be asked, and not where Apple's word is still to come")
    func lacksProductLocally() throws {
        let check = try #require(bench.read(0, in: try bench.own()).first)
        bench.conclude(check, .verified([lacking()], by: .local))
        try bench.written(.toBeHeld(.productNotConfigured, detail: "It says so."))
        let entry = try entry(bench.written(.written(.held(.productNotConfigured), publish: [])))
        #expect(entry.cause == .held(.productNotConfigured))
    }

    @Test("is held with the names of what it claims, and ends where the ledger has granted all of it")
    func heldWithNames() throws {
        let name = NamedPurchase("1", of: "new", GrantKey(environment: .production, name: "t:1"))
        let assignment = try bench.own()
        func write(_ names: [NamedPurchase], _ offset: Int64, _ result: DecisionResult) throws -> RetryEntry {
            let check = try #require(bench.read(offset, in: assignment).first)
            bench.conclude(check, .hold(.productNotConfigured, detail: "Not listed.", purchases: names))
            return try entry(bench.written(result))
        }
        let held = DecisionResult.written(.held(.productNotConfigured), publish: [])
        #expect(try write([name], 0, held).purchases == [name])
        let many = Array(repeating: name, count: NamedPurchase.most + 1)
        #expect(try write(many, 1, held).purchases == [], "one of so many may always be new")
        #expect(bench.core.inFlight == 0)
        _ = try write([name], 2, .written(.repeated, publish: [Fixture.rendered("t1")]))
        let publishes = bench.takePublishes()
        #expect(publishes.count == 1 && bench.core.inFlight > 0)
        for publish in publishes { bench.published(publish) }
        #expect(bench.core.inFlight == 0, "its event is told")
    }

    @Test("counts each name of a held claim as a row of its batch, because the ledger is asked for it")
    func namesAreRows() throws {
        let assignment = try bench.own()
        let checks = bench.read(0, 1, 2, 3, 4, 5, in: assignment)
        for (number, check) in checks.enumerated() {
            let names = (0..<250).map { index in
                let id = TransactionID(reading: "\(1 + number * 250 + index)")
                return NamedPurchase(id, of: "new", GrantKey(environment: .production, name: "t:\(id.rawValue)"))
            }
            bench.conclude(check, .hold(.productNotConfigured, detail: "Not listed.", purchases: names))
        }
        let held = DecisionResult.written(.held(.productNotConfigured), publish: [])
        try bench.written(held)
        try bench.written(held, held, held, held)
        try bench.written(held)
    }

    private func lacking() -> GrantablePurchase {
        var purchase = Fixture.purchase("t1")
        purchase.passedOver = PassedOver([PassedOver.Entry("2", "new", .productNotConfigured)])
        return purchase
    }

    @Test("is answered by what was granted before, once the doubt about nothing new has lasted")
    func nothingNewAtLast() throws {
        try bench.own()
        bench.isNothingDue = false
        let hours = Int64(7 * 3_600_000)
        let doubt = Doubt(replies: 9, elapsed: hours, runningSince: nil)
        let row = Fixture.due(
            0, cause: .retrying(.nothingNew, Fixture.verifyReceipt),
            history: Fixture.history(of: .nothingNew, 9, before: bench.wall), doubt: doubt)
        let check = try #require(bench.takeDue([row]).first)
        bench.ask(check, options: DecisionOptions(doubtsNothingNew: true))
        let attempt = try #require(bench.takeAttempts().first)
        bench.attempted(attempt, .concluded(.verified([Fixture.purchase("t1")], by: .verifyReceipt)))
        try bench.written(.nothingNew)
        bench.wait(WriteBatcher.pauseOfLeased)
        let second = try bench.written(.written(.repeated, publish: []))
        #expect(second.decisions.map(\.doubtsNothingNew) == [false])
        #expect(bench.core.inFlight == 0)
    }

    @Test("is dropped where its partition goes while it waits, and a call under way is waited for")
    func orphaned() throws {
        let attempt = try ask(in: try bench.own())
        bench.send(.revoked([Fixture.partition]))
        #expect(bench.core.inFlight == 1, "the gate counts the call")
        bench.attempted(attempt, .concluded(Fixture.verified("t1")))
        #expect(bench.core.inFlight == 0)
        bench.wait(.seconds(1))
        #expect(bench.writes.isEmpty)
    }
}
