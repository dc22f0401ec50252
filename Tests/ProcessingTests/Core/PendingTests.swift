import Contract
import Ledger
import Testing

@testable import Processing

@Suite("A submission that begins to wait")
struct PendingTests {
    private let bench = CoreBench()
    private let pending = RenderedEvent(
        key: .pending(ClaimDigest(of: Fixture.submission(0))),
        event: Event(id: "p1", topic: .pending, key: nil, headers: [], value: nil))

    init() { bench.isNothingDue = false }

    /// Whether a due row's decision makes a pending event for a cause.
    private func isTold(_ before: WaitCause, _ verdict: Verdict) throws -> Bool {
        try bench.own()
        let check = try #require(try bench.takeDue([Fixture.due(0, cause: before)]).first)
        bench.conclude(check, verdict)
        bench.wait(.seconds(10))
        let decision = try #require(bench.takeWrites().first?.decisions.first)
        guard case .wait = decision.content else {
            Issue.record("it waits")
            return false
        }
        return decision.tellsWaiting
    }

    @Test("is told before its record's offset is passed")
    func record() throws {
        let checks = bench.read(0, in: try bench.own())
        bench.conclude(try #require(checks.first), .hold(.credentialsMissing, detail: "No key."))
        let batch = try bench.written(.written(.held(.credentialsMissing), publish: [pending]))
        #expect(batch.decisions.map(\.tellsWaiting) == [true])
        let task = try #require(bench.takePublishes().first)
        #expect(task.event == pending.event)
        #expect(bench.core.inFlight > 0, "nobody was told yet")
        bench.published(task)
        #expect(bench.core.inFlight == 0)
        #expect(try bench.checkpointed().map(\.next) == [1])
    }

    @Test("is owed by the outbox where its topic takes nothing, so that its offset is passed all the same")
    func owed() throws {
        let checks = bench.read(0, in: try bench.own())
        bench.conclude(try #require(checks.first), .hold(.credentialsMissing, detail: "No key."))
        try bench.written(.written(.held(.credentialsMissing), publish: [pending]))
        bench.published(try #require(bench.takePublishes().first), .failed)
        let (id, entries) = try #require(bench.takeRequest { if case .owe(let list) = $0 { list } else { nil } })
        #expect(entries.map(\.key) == [pending.key])
        bench.send(.ledger(id, .success(.owed([true]))))
        #expect(bench.core.inFlight == 0)
    }

    @Test("is not told to a topic that takes nothing once the outbox is full, so that reading goes on")
    func outboxFull() throws {
        bench.measure = LedgerMeasure(retries: [], waiting: [], outboxRows: 100_000, outboxAge: 0)
        let checks = bench.read(0, in: try bench.own())
        bench.conclude(try #require(checks.first), .hold(.credentialsMissing, detail: "No key."))
        try bench.written(.written(.held(.credentialsMissing), publish: [pending]))
        bench.published(try #require(bench.takePublishes().first), .failed)
        #expect(bench.core.inFlight == 0)
    }

    @Test("is told to nobody where nobody wants to know")
    func unwanted() throws {
        var settings = CoreSettings()
        settings.tellsWaiting = false
        let bench = CoreBench(settings: settings)
        let checks = bench.read(0, in: try bench.own())
        bench.conclude(try #require(checks.first), .hold(.credentialsMissing, detail: "No key."))
        let batch = try bench.written(.written(.held(.credentialsMissing), publish: []))
        #expect(batch.decisions.map(\.tellsWaiting) == [false])
        #expect(bench.core.inFlight == 0)
    }

    @Test("is told again where it begins to wait for us instead of Apple, or for another step of ours")
    func somebodyElse() throws {
        let held = Verdict.hold(.credentialsMissing, detail: "No key.")
        #expect(try isTold(.retrying(.noAnswer, Fixture.verifyReceipt), held))
    }

    @Test("is told again where another step of ours is missing")
    func anotherStep() throws {
        #expect(try isTold(.held(.sharedSecretRefused), .hold(.credentialsMissing, detail: "No key.")))
    }

    @Test("is told again where it begins to wait for Apple instead of us")
    func apple() throws {
        #expect(
            try isTold(
                .held(.credentialsMissing), .doubt(.notFoundYet, becomes: .rejected(Rejection(.accountGone, "")))))
    }

    @Test("is not told again while it waits for the same")
    func same() throws {
        #expect(try !isTold(.held(.credentialsMissing), .hold(.credentialsMissing, detail: "No key.")))
    }

    @Test("is not told again while Apple says now this and now that")
    func retried() throws {
        let doubt = Verdict.doubt(.notFoundYet, becomes: .rejected(Rejection(.accountGone, "")))
        #expect(try !isTold(.retrying(.noAnswer, Fixture.verifyReceipt), doubt))
    }
}
