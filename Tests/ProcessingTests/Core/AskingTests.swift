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
        _ offset: Int64 = 0, in assignment: Assignment, rules: SubmissionRules = SubmissionRules()
    ) throws -> AttemptTask {
        let check = try #require(bench.read(offset, in: assignment).first)
        bench.ask(check, rules: rules)
        return try #require(bench.takeAttempts().first)
    }

    private func entry(_ batch: WriteBatch) throws -> RetryEntry {
        guard case .retry(let entry) = try #require(batch.decisions.first).content else {
            throw NotInRetries()
        }
        return entry
    }

    private struct NotInRetries: Error {}

    @Test("is asked at once where its gate is open, and written with the verdict")
    func verdict() throws {
        let attempt = try ask(in: try bench.own())
        #expect(attempt.question.endpoint == Fixture.verifyReceipt)
        bench.answered(attempt, .concluded(.verified([Fixture.purchase("t1")], by: .verifyReceipt)))
        let batch = try bench.written(.written(.granted(created: 1), publish: []))
        #expect(batch.decisions.map(\.content) == [.grant([Fixture.purchase("t1")], by: .verifyReceipt)])
        #expect(batch.decisions.map(\.attempts) == [1])
    }

    @Test("waits for the gate of the other environment after a hop, as a part of the same attempt")
    func hop() throws {
        let attempt = try ask(in: try bench.own())
        bench.answered(attempt, .next(Fixture.question(Fixture.sandbox)))
        let next = try #require(bench.takeAttempts().first)
        #expect(next.question.endpoint == Fixture.sandbox)
        #expect(next.attempts == 0)
    }

    @Test("comes to a checker where Apple's answer holds signatures")
    func reading() throws {
        let attempt = try ask(in: try bench.own())
        bench.answered(attempt, .check(Fixture.question()))
        let check = try #require(bench.takeChecks().first)
        guard case .answer = check.work else {
            Issue.record("the answer is checked")
            return
        }
        bench.send(
            .checked([Checked(token: check.token, result: .answer(.concluded(Fixture.verified("t1"))))]))
        try bench.written(.written(.granted(created: 1), publish: []))
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
        let batch = try bench.written(.written(.repeated, publish: [Fixture.stored("t1")]))
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
        while true {
            asked += 1
            bench.answered(attempt, .concluded(.retry(.unreachable, notBefore: nil)), .failed, took: .zero)
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
        bench.answered(attempt, .concluded(.retry(.temporarilyUnable, notBefore: moment)))
        let entry = try entry(bench.written(.written(.retrying(.temporarilyUnable), publish: [])))
        #expect(entry.delay >= 600_000)
    }

    @Test("has its signature looked at on its way to retries, which decides nothing while Apple answers others")
    func signedAndAsked() throws {
        bench.isSigned = nil
        let attempt = try ask(in: try bench.own())
        let moment = bench.wall.advanced(by: .seconds(60))
        bench.answered(attempt, .concluded(.retry(.temporarilyUnable, notBefore: moment)))
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
        bench.answered(attempt, .concluded(.hold(.sharedSecretRefused, detail: "21004")))
        let entry = try entry(bench.written(.written(.held(.sharedSecretRefused), publish: [])))
        #expect(entry.cause == .held(.sharedSecretRefused))
        #expect((60_000...300_000).contains(entry.delay))
    }

    @Test("waits in retries with a doubt where Apple's no may not be its last word")
    func doubt() throws {
        let attempt = try ask(in: try bench.own())
        let rejection = Rejection(.transactionNotFound, "Apple does not know it.")
        bench.answered(attempt, .concluded(.doubt(.notFoundYet, becomes: rejection)))
        let entry = try entry(bench.written(.written(.retrying(.notFoundYet), publish: [])))
        #expect(entry.doubt?.answers == 1)
        #expect(entry.doubt?.elapsed == 0)
        #expect(entry.doubt?.runningSince == entry.history.attempts.first?.at)
    }

    @Test("is a doubt where the ledger says that nothing in it is new")
    func nothingNew() throws {
        let attempt = try ask(in: try bench.own(), rules: SubmissionRules(doubtsNothingNew: true))
        bench.answered(attempt, .concluded(.verified([Fixture.purchase("t1")], by: .verifyReceipt)))
        let first = try bench.written(.nothingNew)
        #expect(first.decisions.map(\.doubtsNothingNew) == [true])
        let entry = try entry(bench.written(.written(.retrying(.nothingNew), publish: [])))
        #expect(entry.doubt?.answers == 1)
        #expect(bench.core.inFlight == 0)
    }

    @Test("is answered by what was granted before, once the doubt about nothing new has lasted")
    func nothingNewAtLast() throws {
        try bench.own()
        bench.isNothingDue = false
        let hours = Int64(7 * 3_600_000)
        let doubt = Doubt(answers: 9, elapsed: hours, runningSince: nil)
        let row = Fixture.due(0, cause: .retrying(.nothingNew, Fixture.verifyReceipt), doubt: doubt)
        let check = try #require(bench.takeDue([row]).first)
        bench.ask(check, rules: SubmissionRules(doubtsNothingNew: true))
        let attempt = try #require(bench.takeAttempts().first)
        bench.answered(attempt, .concluded(.verified([Fixture.purchase("t1")], by: .verifyReceipt)))
        try bench.written(.nothingNew)
        let second = try bench.written(.written(.repeated, publish: []))
        #expect(second.decisions.map(\.doubtsNothingNew) == [false])
        #expect(bench.core.inFlight == 0)
    }

    @Test("is dropped where its partition goes while it waits, and a call under way is waited for")
    func orphaned() throws {
        let attempt = try ask(in: try bench.own())
        bench.send(.revoked([Fixture.partition]))
        #expect(bench.core.inFlight == 1, "the gate counts the call")
        bench.answered(attempt, .concluded(Fixture.verified("t1")))
        #expect(bench.core.inFlight == 0)
        bench.wait(.seconds(1))
        #expect(bench.writes.isEmpty)
    }
}

@Suite("While an endpoint is away")
struct OutageTests {
    private let bench = CoreBench()

    /// Asks about records until the breaker of verifyReceipt opens.
    private func open(in assignment: Assignment) throws {
        var offset: Int64 = 0
        while !bench.alerts.contains(.breakerOpened(Fixture.verifyReceipt)) {
            try #require(offset < 200)
            let check = try #require(bench.read(offset, in: assignment).first)
            bench.ask(check)
            for attempt in bench.takeAttempts() {
                bench.answered(attempt, .concluded(.retry(.unreachable, notBefore: nil)), .failed)
            }
            offset += 1
        }
    }

    private func read(_ offset: Int64, in assignment: Assignment) throws {
        bench.ask(try #require(bench.read(offset, in: assignment).first))
    }

    private func readTen(in assignment: Assignment) {
        let records = (1000..<Int64(1010)).map { Fixture.record($0) }
        bench.send(.records(RecordBatch(assignment: assignment.id, records: records)))
        for check in bench.takeChecks() { bench.ask(check) }
    }

    /// Writes what waits, and gives the decisions.
    private func writeAll() -> [Decision] {
        var all: [Decision] = []
        for _ in 0..<50 {
            bench.wait(.milliseconds(5))
            for batch in bench.takeWrites() {
                all += batch.decisions
                let results = batch.decisions.map { decision -> DecisionResult in
                    guard case .retry = decision.content else { return .written(.granted(created: 1), publish: []) }
                    return .written(.retrying(.endpointUnavailable), publish: [])
                }
                bench.send(.written(batch.id, .success(results)))
            }
        }
        return all
    }

    @Test("submissions go to retries at once, uncounted, but for a few that find out whether it is back")
    func shed() throws {
        let assignment = try bench.own()
        try open(in: assignment)
        for offset in 1000..<Int64(1050) { try read(offset, in: assignment) }
        let entries = writeAll().compactMap { if case .retry(let entry) = $0.content { entry } else { nil } }
        let uncounted = entries.filter { $0.cause == .retrying(.endpointUnavailable, Fixture.verifyReceipt) }
        #expect(uncounted.count >= 47)
        #expect(uncounted.allSatisfy { $0.delay >= 15_000 && $0.delay <= 900_000 })
        bench.wait(.seconds(5))
        _ = writeAll()
        #expect(bench.core.inFlight <= 3)
    }

    @Test("what does not need it is decided as ever")
    func isolation() throws {
        let assignment = try bench.own()
        try open(in: assignment)
        _ = writeAll()
        for offset in 1000..<Int64(1100) { try read(offset, in: assignment) }
        let signed = try #require(bench.read(2000, in: assignment).first)
        bench.conclude(signed, Fixture.verified("t1"))
        #expect(writeAll().contains { $0.content == .grant([Fixture.purchase("t1")], by: .signedTransaction) })
        try read(2001, in: assignment)
        #expect(bench.demand != nil)
    }

    @Test("Apple's signature is enough where the app's rules say so")
    func local() throws {
        let assignment = try bench.own()
        try open(in: assignment)
        _ = writeAll()
        bench.isSigned = nil
        readTen(in: assignment)
        let checks = bench.takeChecks()
        #expect(checks.count >= 7)
        for check in checks {
            guard case .signature(let submission, mayDecide: true) = check.work else {
                Issue.record("the signature alone")
                return
            }
            let verdict = Verdict.verified([Fixture.purchase("t\(submission.id)")], by: .local)
            bench.send(.checked([Checked(token: check.token, result: .signature(holds: true, verdict))]))
        }
        let grants = writeAll().filter { if case .grant(_, .local) = $0.content { true } else { false } }
        #expect(grants.count == checks.count)
    }

    @Test("a receipt in which nothing is new is asked about later, because a signature is no answer that doubts")
    func localNothingNew() throws {
        let assignment = try bench.own()
        try open(in: assignment)
        _ = writeAll()
        bench.isSigned = nil
        readTen(in: assignment)
        let check = try #require(bench.takeChecks().first)
        let verdict = Verdict.verified([Fixture.purchase("t1")], by: .local)
        bench.send(.checked([Checked(token: check.token, result: .signature(holds: true, verdict))]))
        try bench.written(.nothingNew)
        let later = try bench.written(.written(.retrying(.endpointUnavailable), publish: []))
        let isNoDoubt =
            if case .retry(let entry) = later.decisions[0].content { entry.doubt == nil } else { false }
        #expect(isNoDoubt)
    }

    @Test("what Apple's signature does not decide waits in retries after all")
    func localUndecided() throws {
        let assignment = try bench.own()
        try open(in: assignment)
        _ = writeAll()
        bench.isSigned = nil
        readTen(in: assignment)
        let checks = bench.takeChecks()
        for (number, check) in checks.enumerated() {
            bench.send(.checked([Checked(token: check.token, result: .signature(holds: number < 2, nil))]))
        }
        #expect(bench.takeChecks().isEmpty, "it is looked at once")
        let entries = writeAll().compactMap { if case .retry(let entry) = $0.content { entry } else { nil } }
        #expect(entries.count >= 7)
        #expect(entries.count { $0.isSigned } == 2, "what Apple has signed is taken first")
    }

    @Test("an app that has used its half of retries waits in memory within a limit, and what needs nobody is decided")
    func halfUsed() throws {
        let assignment = try bench.own()
        try open(in: assignment)
        _ = writeAll()
        let half = LedgerMeasure.App(bundleID: Fixture.app, rows: 1, bytes: CoreSettings().retryBytes / 2)
        bench.measure = LedgerMeasure(retries: [half], waiting: [], outboxRows: 0, outboxAge: 0)
        bench.wait(.seconds(15))
        let limit = InFlightLimit(count: CoreSettings().inFlight, bytes: 1, purchases: 1)
        var offset: Int64 = 1000
        for _ in 0..<100 where bench.core.status.readingStop == nil {
            let records = (offset..<offset + 100).map { Fixture.record($0) }
            bench.send(.records(RecordBatch(assignment: assignment.id, records: records)))
            for check in bench.takeChecks() { bench.ask(check) }
            offset += 100
        }
        #expect(bench.core.status.readingStop == .inFlightFull)
        #expect((limit.gateCount - limit.dueCount...limit.gateCount).contains(bench.core.inFlight))
        let check = try #require(bench.read(offset, in: assignment).first)
        bench.conclude(check, Fixture.verified("t1"))
        #expect(writeAll().contains { if case .grant = $0.content { true } else { false } })
    }

    @Test("when it is back, rows are taken whatever their due time")
    func early() throws {
        let assignment = try bench.own()
        try open(in: assignment)
        for offset in 1000..<Int64(1010) { try read(offset, in: assignment) }
        _ = writeAll()
        bench.isNothingDue = false
        var isEarly = false
        for _ in 0..<600 {
            bench.wait(.milliseconds(100))
            for attempt in bench.takeAttempts() {
                bench.answered(attempt, .concluded(.rejected(Rejection(.receiptNotAuthentic, "21003"))))
            }
            _ = writeAll()
            while let (id, requests) = bench.takeRequest({ if case .takeDue(let list, _) = $0 { list } else { nil } }) {
                isEarly = isEarly || requests.contains { $0.endpoint == Fixture.verifyReceipt && $0.beforeDue }
                bench.send(.ledger(id, .success(.due([]))))
            }
        }
        #expect(isEarly)
        #expect(bench.alerts.contains { if case .breakerClosed = $0 { true } else { false } })
    }

    @Test("a gate whose share is full while nothing is answered for a second counts as away")
    func silent() throws {
        var settings = CoreSettings()
        settings.inFlight = 256
        settings.callsPerEndpoint = 16
        let bench = CoreBench(settings: settings)
        let assignment = try bench.own()
        // Sixteen calls hang, and the others wait behind them.
        for offset in 0..<Int64(140) { bench.ask(try #require(bench.read(offset, in: assignment).first)) }
        #expect(bench.takeAttempts().count == 16)
        bench.wait(.milliseconds(500))
        #expect(bench.takeWrites().isEmpty)
        bench.wait(.seconds(1))
        let batch = try #require(bench.takeWrites().first)
        #expect(batch.decisions.count > 100)
    }

    @Test("where retries have no room for more, submissions wait here and reading stops")
    func noRoom() throws {
        let app = LedgerMeasure.App(bundleID: Fixture.app, rows: 9, bytes: 4 << 30)
        bench.measure = LedgerMeasure(retries: [app], waiting: [], outboxRows: 0, outboxAge: 0)
        let assignment = try bench.own()
        #expect(bench.takeAlerts().contains(.retriesFull))
        try open(in: assignment)
        for offset in 1000..<Int64(1020) { try read(offset, in: assignment) }
        #expect(writeAll().isEmpty)
        #expect(bench.core.inFlight >= 20)
        let delivered = bench.core.limit.demand.records
        bench.wait(.seconds(20))
        #expect(bench.core.limit.demand.records == delivered)
    }
}
