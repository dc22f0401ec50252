import Contract
import Ledger
import Testing

@testable import Processing

@Suite("Records that may have been read before")
struct RedeliveryTests {
    private let bench = CoreBench()

    private func outcome(
        _ offset: Int64, _ events: [RenderedEvent], _ kind: KnownOutcome.Kind = .granted
    ) -> KnownOutcome {
        KnownOutcome(
            origin: Fixture.origin(offset), bundleID: Fixture.app, submissionID: SubmissionID("s\(offset)"),
            userID: "u1", kind: kind, publish: events)
    }

    private func load(_ outcomes: KnownOutcome...) throws -> [CheckTask] {
        let (id, origins) = try #require(
            bench.takeRequest { if case .knownOutcomes(let list) = $0 { list } else { nil } })
        #expect(origins == origins.sorted())
        bench.send(.ledger(id, .success(.knownOutcomes(outcomes))))
        return bench.takeChecks()
    }

    private func known(_ task: CheckTask) -> KnownOutcome? {
        if case .record(_, let known) = task.work { known } else { nil }
    }

    @Test("come to their check with the outcome of their origin, up to the highest origin")
    func loaded() throws {
        let assignment = try bench.own(highestOrigin: 1)
        let checks = bench.read(0, 1, 2, in: assignment)
        #expect(checks.count == 1, "the record behind the highest origin needs none")
        let loaded = try load(outcome(1, []))
        #expect(loaded.map { known($0)?.origin } == [nil, Fixture.origin(1)])
    }

    @Test("are told again and not written again where they have their outcome")
    func toldAgain() throws {
        bench.read(0, in: try bench.own(highestOrigin: 0))
        let check = try #require(try load(outcome(0, [Fixture.rendered("t1")])).first)
        bench.send(.checked([Checked(token: check.token, result: .known(.publish))]))
        bench.wait(.milliseconds(10))
        #expect(bench.writes.isEmpty)
        let publish = try #require(bench.takePublishes().first)
        #expect(publish.event == Fixture.rendered("t1").event)
        bench.published(publish)
        #expect(try bench.checkpointed().map(\.next) == [1])
    }

    @Test("are complete where their grant owes a call, or they wait in retries")
    func nothingToTell() throws {
        bench.read(0, in: try bench.own(highestOrigin: 0))
        let check = try #require(try load(outcome(0, [])).first)
        bench.send(.checked([Checked(token: check.token, result: .known(.publish))]))
        #expect(bench.takePublishes().isEmpty)
        #expect(bench.core.inFlight == 0)
        #expect(try bench.checkpointed().map(\.next) == [1])
    }

    @Test("are complete where their repeat's copy is not wanted any more")
    func unwanted() throws {
        bench.read(0, in: try bench.own(highestOrigin: 0))
        let check = try #require(try load(outcome(0, [Fixture.rendered("t1")], .repeated)).first)
        bench.send(.checked([Checked(token: check.token, result: .known(.ignore))]))
        #expect(bench.takePublishes().isEmpty)
        #expect(bench.core.inFlight == 0)
    }

    @Test("are decided as ever where the record is another one")
    func another() throws {
        bench.read(0, in: try bench.own(highestOrigin: 0))
        let check = try #require(try load(outcome(0, [Fixture.rendered("t1")])).first)
        bench.conclude(check, Fixture.verified("t2"))
        #expect(bench.takePublishes().isEmpty)
        try bench.written(.written(.granted(created: 1), publish: [Fixture.rendered("t2")]))
        #expect(bench.takePublishes().map(\.event) == [Fixture.rendered("t2").event])
    }

    @Test("wait while the ledger does not answer, and nothing more is read")
    func ledgerAway() throws {
        bench.read(0, in: try bench.own(highestOrigin: 0))
        let (id, _) = try #require(bench.takeRequest { if case .knownOutcomes(let list) = $0 { list } else { nil } })
        bench.send(.ledger(id, .failure(.unavailable(detail: "away"))))
        #expect(bench.takeChecks().isEmpty)
        #expect(bench.demand?.records == 1, "what was delivered, and no more")
        bench.wait(.seconds(1))
        #expect(try load(outcome(0, [])).count == 1)
        #expect(try #require(bench.demand).records > 1)
    }
}

@Suite("Records of a partition that has ended workers")
struct CrashMarkTests {
    private let bench = CoreBench()

    private func mark() throws -> CheckMark {
        let (id, marks) = try #require(bench.takeRequest { if case .mark(let marks) = $0 { marks } else { nil } })
        bench.send(.ledger(id, .success(.marked(marks.map { _ in true }))))
        return try #require(marks.first)
    }

    private func load(_ outcomes: KnownOutcome...) throws -> [CheckTask] {
        let (id, _) = try #require(bench.takeRequest { if case .knownOutcomes(let list) = $0 { list } else { nil } })
        bench.send(.ledger(id, .success(.knownOutcomes(outcomes))))
        return bench.takeChecks()
    }

    @Test("are checked one by one from the third start on, each behind a mark")
    func alone() throws {
        let assignment = try bench.own(next: 0, starts: 3)
        #expect(bench.read(0, 1, in: assignment).isEmpty)
        #expect(try mark().begins == 0)
        let first = bench.takeChecks()
        #expect(first.count == 1)
        #expect(bench.requests.isEmpty, "the next one waits for the check of this one")
        bench.conclude(try #require(first.first), Fixture.verified("t1"))
        #expect(try mark().begins == 1)
        #expect(bench.takeChecks().count == 1)
    }

    @Test("wait behind those that are checked one by one until the last mark is gone")
    func behind() throws {
        var settings = CoreSettings()
        settings.inFlight = 16
        let bench = CoreBench(settings: settings)
        #expect(bench.read(0, 16, 17, in: try bench.own(next: 0, starts: 3)).isEmpty)
        func mark() throws -> CheckMark {
            let (id, marks) = try #require(
                bench.takeRequest { if case .mark(let marks) = $0 { marks } else { nil } })
            bench.send(.ledger(id, .success(.marked(marks.map { _ in true }))))
            return try #require(marks.first)
        }
        #expect(try mark().begins == 0)
        bench.conclude(try #require(bench.takeChecks().first), Fixture.verified("t1"))
        #expect(bench.takeChecks().isEmpty)
        let last = try mark()
        #expect(last.ended == 0 && last.begins == nil)
        #expect(bench.takeChecks().count == 2)
    }

    @Test("are no suspects where the ledger was lost before it heard that their check has ended")
    func survived() throws {
        bench.read(0, in: try bench.own(next: 0, starts: 3))
        _ = try mark()
        bench.conclude(try #require(bench.takeChecks().first), Fixture.verified("t1"))
        _ = bench.takeRequest { if case .mark = $0 { true } else { nil } }
        bench.wait(WriteBatcher.mostPause)
        bench.send(.written(try #require(bench.takeWrites().first).id, .failure(.disconnected(detail: "closed"))))
        let assignment = try bench.takeOver(next: 0, committed: 0, starts: 4, marked: 0)
        let cleared = try mark()
        #expect(cleared.ended == 0 && cleared.begins == nil)
        bench.read(0, in: assignment)
        #expect(try mark().begins == 0)
        #expect(bench.takeChecks().count == 1)
    }

    @Test("are no suspects for a worker that lives, even if the ledger was lost while they were checked")
    func alive() throws {
        bench.read(0, 1, in: try bench.own(next: 0, starts: 3))
        _ = try mark()
        bench.conclude(try #require(bench.takeChecks().first), Fixture.verified("t1"))
        #expect(try mark().begins == 1)
        #expect(bench.takeChecks().count == 1)
        bench.wait(WriteBatcher.mostPause)
        bench.send(.written(try #require(bench.takeWrites().first).id, .failure(.disconnected(detail: "closed"))))
        try bench.takeOver(next: 0, committed: 0, starts: 4, marked: 1)
        let cleared = try mark()
        #expect(cleared.ended == 1 && cleared.begins == nil)
    }

    @Test("are read as ever at the second start")
    func second() throws {
        #expect(bench.read(0, 1, in: try bench.own(next: 0, starts: 2)).count == 2)
    }

    @Test("are quarantined unread where a mark was found")
    func quarantined() throws {
        #expect(bench.read(0, 1, in: try bench.own(next: 0, starts: 4, marked: 0)).isEmpty)
        let checks = try load()
        guard case .quarantine(let record, _) = try #require(checks.first).work else {
            Issue.record("the marked record is not read")
            return
        }
        #expect(record.origin == Fixture.origin(0))
        #expect(bench.takeAlerts() == [.recordEndsWorkers(Fixture.origin(0))])
        #expect(try mark().begins == 1)
    }

    /// The worker that wrote it may have ended before it told.
    @Test("are told with the outcome that stands at their origin")
    func quarantinedWithOutcome() throws {
        bench.read(0, in: try bench.own(next: 0, starts: 4, marked: 0))
        let stored = Fixture.rendered("t1")
        let check = try #require(
            try load(
                KnownOutcome(
                    origin: Fixture.origin(0), bundleID: Fixture.app, submissionID: "s0", userID: "u1", kind: .granted,
                    publish: [stored])
            ).first)
        let stub = QuarantineStub(of: Fixture.record(0), reason: "x")
        let event = QuarantinedEvent.event(of: Fixture.record(0), reason: "x")
        bench.send(.checked([Checked(token: check.token, result: .unreadable(event, stub, .notJSON))]))
        let publishes = bench.takePublishes()
        #expect(publishes.map(\.event) == [event, stored.event])
        bench.published(publishes[0])
        #expect(bench.core.inFlight > 0, "the outcome is not told yet")
        bench.published(publishes[1])
        #expect(try bench.checkpointed().map(\.next) == [1])
    }
}
