import Contract
import Ledger
import Testing

@testable import Processing

extension CoreBench {
    /// Answers the next request for due rows, and gives the checks that follow.
    func takeDue(_ rows: [DueRetry]) throws -> [CheckTask] {
        let endpoint = rows.first.map(\.cause.endpoint) ?? Fixture.verifyReceipt
        measure = LedgerMeasure(
            retries: [], waiting: [.init(endpoint: endpoint, rows: rows.count)], outboxRows: 0, outboxAge: 0)
        for _ in 0..<30 {
            let request = takeRequest { if case .takeDue(let list, _) = $0 { list } else { nil } }
            guard let (id, requests) = request else {
                wait(.seconds(1))
                continue
            }
            let isAsked = requests.contains { $0.endpoint == endpoint }
            send(.ledger(id, .success(.due(isAsked ? rows : []))))
            if isAsked { return takeChecks() }
        }
        return []
    }
}

@Suite("Rows of retries")
struct DueRowsTests {
    private let bench = CoreBench()

    init() { bench.isNothingDue = false }

    @Test("are checked again from the start, asked about, and written under their lease")
    func whole() throws {
        try bench.own()
        let row = Fixture.due(0, number: 7, attempts: 3)
        let check = try #require(try bench.takeDue([row]).first)
        guard case .submission(let submission) = check.work else {
            Issue.record("the submission is checked")
            return
        }
        #expect(submission == row.submission)
        bench.ask(check)
        let attempt = try #require(bench.takeAttempts().first)
        #expect(attempt.attempts == 3)
        bench.attempted(attempt, .concluded(.verified([Fixture.purchase("t1")], by: .verifyReceipt)))
        let batch = try bench.written(.written(.granted(created: 1), publish: []))
        #expect(batch.decisions.map(\.source) == [.row(row.lease)])
        #expect(batch.decisions.map(\.attempts) == [4])
        #expect(bench.core.inFlight == 0)
        let outbox = bench.takeRequest { if case .takeOutbox(let list) = $0 { list } else { nil } }
        #expect(outbox != nil, "its event is owed from the start")
    }

    @Test("go back to retries, with what was learnt, where nothing is decided")
    func undecided() throws {
        try bench.own()
        let check = try #require(try bench.takeDue([Fixture.due(0, attempts: 3)]).first)
        bench.ask(check)
        for _ in 0..<5 {
            for attempt in bench.takeAttempts() {
                bench.attempted(attempt, .concluded(.retry(.noAnswer, notBefore: nil)), .failed)
            }
            bench.wait(.seconds(3))
        }
        let batch = try bench.written(.written(.retrying(.noAnswer), publish: []))
        #expect(try #require(batch.decisions.first).attempts > 3)
        #expect(bench.core.inFlight == 0)
    }

    @Test("are dropped where another has the lease by now")
    func notOwned() throws {
        try bench.own()
        let check = try #require(try bench.takeDue([Fixture.due(0)]).first)
        bench.conclude(check, Fixture.verified("t1"))
        try bench.written(.notOwned)
        #expect(bench.core.inFlight == 0)
        #expect(bench.takeUnassigned().isEmpty)
    }

    @Test("keep their leases while they are under way, and are dropped where that fails")
    func renewed() throws {
        try bench.own()
        let row = Fixture.due(0)
        let check = try #require(try bench.takeDue([row]).first)
        bench.ask(check)
        #expect(bench.takeAttempts().count == 1)
        bench.wait(.seconds(20))
        let (id, leases) = try #require(bench.takeRequest { if case .renew(let list) = $0 { list } else { nil } })
        #expect(leases == [LeaseRenewal(row.lease, takings: 1)])
        bench.send(.ledger(id, .success(.renewed([true]))))
        bench.wait(.seconds(20))
        let (second, _) = try #require(bench.takeRequest { if case .renew(let list) = $0 { list } else { nil } })
        bench.send(.ledger(second, .success(.renewed([false]))))
        bench.wait(.seconds(60))
        #expect(bench.takeRequest { if case .renew = $0 { true } else { nil } } == nil)
    }

    @Test("outlive the partitions: a lease is not an ownership")
    func revoked() throws {
        try bench.own()
        let check = try #require(try bench.takeDue([Fixture.due(0)]).first)
        bench.send(.revoked([Fixture.partition]))
        bench.conclude(check, Fixture.verified("t1"))
        try bench.written(.written(.granted(created: 1), publish: []))
        #expect(bench.core.inFlight == 0)
    }

    @Test("fail where a doubt has lasted for six hours and five answers")
    func doubtEnds() throws {
        try bench.own()
        let since = bench.wall.advanced(by: .seconds(-60))
        let doubt = Doubt(replies: 4, elapsed: 6 * 3_600_000 - 60_000, runningSince: since)
        let row = Fixture.due(
            0, cause: .retrying(.notFoundYet, Fixture.verifyReceipt), attempts: 4,
            history: Fixture.history(of: .notFoundYet, 4, before: bench.wall), doubt: doubt)
        let check = try #require(try bench.takeDue([row]).first)
        bench.ask(check)
        let rejection = Rejection(.transactionNotFound, "Apple does not know it.")
        bench.attempted(
            try #require(bench.takeAttempts().first), .concluded(.doubt(.notFoundYet, becomes: .rejected(rejection))))
        let batch = try bench.written(.written(.failed(reason: "transaction_not_found"), publish: []))
        #expect(batch.decisions.map(\.content) == [.fail(rejection)])
    }

    @Test("that are held are taken when the apps file changes, whatever their due time")
    func rulesChange() throws {
        bench.isNothingDue = true
        try bench.own()
        bench.wait(.seconds(30))
        bench.isNothingDue = false
        bench.send(.apps(Fixture.apps))
        let (_, requests) = try #require(
            bench.takeRequest { if case .takeDue(let list, _) = $0 { list } else { nil } })
        #expect(requests.contains { $0.endpoint == nil && $0.beforeDue })
    }

    @Test("that were tried since the apps file changed wait for their due time again, however many there are")
    func triedAgain() throws {
        bench.isNothingDue = true
        try bench.own()
        bench.wait(.seconds(30))
        bench.isNothingDue = false
        bench.send(.apps(Fixture.apps))
        func take(_ history: AttemptHistory) throws -> [DueRequest] {
            bench.wait(.seconds(1))
            let (id, requests) = try #require(
                bench.takeRequest { if case .takeDue(let list, _) = $0 { list } else { nil } })
            let held = requests.first { $0.endpoint == nil }
            let rows = (0..<Int64(held?.limit ?? 0)).map {
                Fixture.due($0, cause: .held(.sharedSecretRefused), history: history)
            }
            bench.send(.ledger(id, .success(.due(rows))))
            for check in bench.takeChecks() { bench.ask(check) }
            return requests.filter { $0.endpoint == nil }
        }
        #expect(try take(AttemptHistory()).map(\.beforeDue) == [true])
        let again = Attempt(at: bench.wall, cause: "shared_secret_refused", detail: "")
        #expect(try take(AttemptHistory([again])).map(\.beforeDue) == [true])
        bench.measure = LedgerMeasure(
            retries: [], waiting: [.init(endpoint: nil, rows: 99)], outboxRows: 0, outboxAge: 0)
        bench.wait(.seconds(61))
        #expect(try take(AttemptHistory()).map(\.beforeDue) == [false])
    }

    @Test("are taken when they are due, also those written since the ledger was asked for a sample")
    func sampleIsOlder() throws {
        bench.isMeasured = false
        let checks = bench.read(0, in: try bench.own())
        let (sample, _) = try #require(bench.takeRequest { if case .measure = $0 { true } else { nil } })
        bench.send(.ledger(sample, .success(.measured(bench.sample))))
        bench.wait(.seconds(10))
        let (older, _) = try #require(bench.takeRequest { if case .measure = $0 { true } else { nil } })
        bench.conclude(try #require(checks.first), .hold(.credentialsMissing, detail: "No key."))
        try bench.written(.written(.held(.credentialsMissing), publish: []))
        bench.send(.ledger(older, .success(.measured(bench.sample))))
        bench.wait(.seconds(301))
        let requests = bench.takeRequest { if case .takeDue(let list, _) = $0 { list } else { nil } }
        #expect(try #require(requests).content.contains { $0.endpoint == nil })
    }

    @Test("are not asked for while none wait, however long that is")
    func idle() throws {
        bench.isNothingDue = true
        try bench.own()
        bench.wait(.seconds(60))
        try bench.checkpointed()
        bench.isNothingDue = false
        bench.wait(.seconds(600))
        #expect(bench.requests.isEmpty)
    }
}

@Suite("Rows of retries that may end workers")
struct SuspectRowsTests {
    private let bench = CoreBench()

    init() { bench.isNothingDue = false }

    private var isAsked: Bool {
        bench.wait(.seconds(1))
        return bench.requests.contains { if case .takeDue = $0.call { true } else { false } }
    }

    @Test("are checked while no other row is, and acquitted before the next is taken")
    func alone() throws {
        try bench.own()
        let row = Fixture.due(0, takings: 7)
        let check = try #require(try bench.takeDue([row]).first)
        #expect(!isAsked)
        bench.ask(check)
        let (_, acquitted) = try #require(bench.takeRequest { if case .renew(let list) = $0 { list } else { nil } })
        #expect(acquitted == [LeaseRenewal(row.lease, takings: 6)])
        #expect(isAsked)
    }

    @Test("are held for a person after five checks alone")
    func held() throws {
        try bench.own()
        #expect(try bench.takeDue([Fixture.due(0, takings: 8)]).isEmpty)
        let batch = try bench.written(.written(.held(.endsWorkers), publish: []))
        guard case .wait(let entry) = try #require(batch.decisions.first).content else {
            Issue.record("it goes on waiting")
            return
        }
        #expect(entry.cause == .held(.endsWorkers))
        #expect(bench.takeAlerts() == [.rowEndsWorkers(Fixture.origin(0))])
        #expect(bench.core.inFlight == 0)
    }

    @Test("do not acquit the others: a lease is not renewed before its check has ended, and counts on after it")
    func renewal() throws {
        try bench.own()
        let check = try #require(try bench.takeDue([Fixture.due(0)]).first)
        bench.wait(.seconds(20))
        #expect(bench.takeRequest { if case .renew = $0 { true } else { nil } } == nil)
        bench.ask(check)
        bench.wait(.seconds(20))
        let (_, renewals) = try #require(bench.takeRequest { if case .renew(let list) = $0 { list } else { nil } })
        #expect(renewals.map(\.takings) == [1])
    }

    @Test("are not checked while a record is marked, nor is a record marked while they are checked")
    func marks() throws {
        let assignment = try bench.own(next: 0, starts: 3)
        let check = try #require(try bench.takeDue([Fixture.due(0)]).first)
        #expect(bench.read(0, in: assignment).isEmpty)
        #expect(bench.takeRequest { if case .mark = $0 { true } else { nil } } == nil)
        bench.ask(check)
        #expect(bench.takeRequest { if case .mark = $0 { true } else { nil } } != nil)
        #expect(!isAsked)
    }

    @Test("that come while the worker stops are given back")
    func stopping() throws {
        try bench.own()
        bench.measure = LedgerMeasure(
            retries: [], waiting: [.init(endpoint: Fixture.verifyReceipt, rows: 1)], outboxRows: 0, outboxAge: 0)
        bench.wait(.seconds(61))
        try bench.checkpointed()
        let (id, _) = try #require(bench.takeRequest { if case .takeDue(let list, _) = $0 { list } else { nil } })
        bench.send(.stop)
        let row = Fixture.due(0)
        bench.send(.ledger(id, .success(.due([row]))))
        let (_, leases) = try #require(
            bench.takeRequest { if case .giveBack(let retries, _) = $0 { retries } else { nil } })
        #expect(leases == [row.lease])
    }
}
