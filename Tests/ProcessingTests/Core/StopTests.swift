import Contract
import Ledger
import Testing

@testable import Processing

@Suite("A stop")
struct StopTests {
    private let bench = CoreBench()

    @Test("of an idle worker is at once")
    func idle() {
        bench.send(.stop)
        #expect(bench.stop == .clean)
    }

    @Test("reads no more, writes and tells what is decided, checkpoints and commits, and is clean then")
    func whole() throws {
        let checks = bench.read(0, 1, in: try bench.own())
        bench.conclude(checks[0], Fixture.verified("t1"))
        bench.conclude(checks[1], Fixture.verified("t2"))
        bench.send(.stop)
        #expect(bench.demand?.records == 2)
        try bench.written(.written(.granted(created: 1), publish: [Fixture.rendered("t1")]))
        try bench.written(.written(.granted(created: 1), publish: [Fixture.rendered("t2")]))
        let publishes = bench.takePublishes()
        #expect(publishes.count == 2)
        for publish in publishes { bench.published(publish) }
        #expect(bench.stop == nil)
        #expect(try bench.checkpointed().map(\.next) == [2])
        #expect(bench.takeCommits() == [CommittedOffset(partition: Fixture.partition, offset: 2)])
        #expect(bench.stop == .clean)
    }

    @Test("tells of quarantined records that nobody was told of")
    func quarantined() throws {
        let checks = bench.read(0, 1, in: try bench.own())
        for (offset, check) in zip(Int64(0)..., checks) {
            let event = QuarantinedEvent.event(of: Fixture.record(offset), reason: "no JSON")
            let stub = QuarantineStub(of: Fixture.record(offset), reason: "no JSON")
            bench.send(.checked([Checked(token: check.token, result: .unreadable(event, stub, .notJSON))]))
        }
        for publish in bench.takePublishes() { bench.published(publish) }
        #expect(bench.takeAlerts() == [.quarantined(.notJSON, records: 1, example: Fixture.origin(0))])
        bench.send(.stop)
        _ = try bench.checkpointed()
        #expect(bench.stop == .clean)
        #expect(bench.takeAlerts() == [.quarantined(.notJSON, records: 1, example: Fixture.origin(1))])
    }

    @Test("owes what the broker does not acknowledge in five seconds")
    func untold() throws {
        let check = try #require(bench.read(0, in: try bench.own()).first)
        bench.conclude(check, Fixture.verified("t1"))
        try bench.written(.written(.granted(created: 1), publish: [Fixture.rendered("t1")]))
        bench.send(.stop)
        bench.wait(.seconds(6))
        let (id, entries) = try #require(bench.takeRequest { if case .owe(let entries) = $0 { entries } else { nil } })
        #expect(entries.map(\.key) == [Fixture.rendered("t1").key])
        bench.send(.ledger(id, .success(.owed([true]))))
        #expect(try bench.checkpointed().map(\.next) == [1])
        #expect(bench.stop == .clean)
    }

    @Test("leaves a record that the quarantine topic does not take: its next owner reads it again")
    func quarantineNotTaken() throws {
        let check = try #require(bench.read(0, in: try bench.own()).first)
        let event = QuarantinedEvent.event(of: Fixture.record(0), reason: "no JSON")
        let stub = QuarantineStub(of: Fixture.record(0), reason: "no JSON")
        bench.send(.checked([Checked(token: check.token, result: .unreadable(event, stub, .notJSON))]))
        bench.published(try #require(bench.takePublishes().first), .failed)
        bench.send(.stop)
        bench.wait(.seconds(4))
        #expect(bench.stop == nil && bench.takePublishes().map(\.event) == [event], "it may be taken still")
        bench.wait(.seconds(2))
        #expect(bench.takeRequest { if case .owe = $0 { true } else { nil } } == nil)
        #expect(bench.stop == .clean && bench.takeCommits().isEmpty)
    }

    @Test("owes nothing of a partition that was revoked: its next owner reads it again")
    func revoked() throws {
        let check = try #require(bench.read(0, in: try bench.own()).first)
        bench.conclude(check, Fixture.verified("t1"))
        try bench.written(.written(.granted(created: 1), publish: [Fixture.rendered("t1")]))
        bench.send(.stop)
        bench.send(.revoked([Fixture.partition]))
        bench.wait(.seconds(6))
        #expect(bench.takeRequest { if case .owe = $0 { true } else { nil } } == nil)
        #expect(bench.stop == .clean)
    }

    @Test("waits for calls under way for three fifths of its limit, and no longer")
    func calls() throws {
        let check = try #require(bench.read(0, in: try bench.own()).first)
        bench.ask(check)
        #expect(bench.takeAttempts().count == 1)
        bench.send(.stop)
        bench.wait(.seconds(14))
        #expect(bench.stop == nil)
        bench.wait(.seconds(2))
        #expect(bench.stop == .clean)
        #expect(bench.takeCommits().isEmpty, "the record is read again")
    }

    @Test("takes the verdict of a call that ends in time")
    func callEnds() throws {
        let check = try #require(bench.read(0, in: try bench.own()).first)
        bench.ask(check)
        let attempt = try #require(bench.takeAttempts().first)
        bench.send(.stop)
        bench.attempted(attempt, .concluded(Fixture.verified("t1")))
        try bench.written(.written(.granted(created: 1), publish: []))
        #expect(try bench.checkpointed().map(\.next) == [1])
        #expect(bench.stop == .clean)
    }

    @Test("gives the leases of due rows back")
    func leases() throws {
        bench.isNothingDue = false
        try bench.own()
        let row = Fixture.due(0)
        bench.ask(try #require(try bench.takeDue([row]).first))
        bench.send(.stop)
        bench.wait(.seconds(16))
        let (id, leases) = try #require(
            bench.takeRequest { if case .giveBack(let retries, _) = $0 { retries } else { nil } })
        #expect(leases == [row.lease])
        bench.send(.ledger(id, .success(.done)))
        bench.wait(.seconds(6))
        #expect(bench.stop == .clean)
    }

    @Test("leaves the lease of a row whose check does not end, so that it counts")
    func hangingCheck() throws {
        bench.isNothingDue = false
        try bench.own()
        #expect(try bench.takeDue([Fixture.due(0)]).count == 1)
        bench.send(.stop)
        bench.wait(.seconds(25))
        #expect(bench.takeRequest { if case .giveBack(let retries, _) = $0 { retries } else { nil } } == nil)
        #expect(bench.stop == .clean)
    }

    @Test("leaves the mark of a record whose check does not end, so that it counts")
    func hangingMarkedCheck() throws {
        bench.read(0, in: try bench.own(starts: 3))
        let (id, _) = try #require(bench.takeRequest { if case .mark(let marks) = $0 { marks } else { nil } })
        bench.send(.ledger(id, .success(.marked([true]))))
        #expect(bench.takeChecks().count == 1)
        bench.send(.stop)
        bench.wait(.seconds(25))
        #expect(bench.takeRequest { if case .mark = $0 { true } else { nil } } == nil)
        #expect(bench.stop == .clean)
    }

    @Test("begins nothing: a due row that waits for its gate gives its lease back")
    func unstarted() throws {
        bench.isNothingDue = false
        try bench.own()
        let row = Fixture.due(0)
        let check = try #require(try bench.takeDue([row]).first)
        let lookUp = GrantLookup(
            bundleID: Fixture.app, userID: "u1", transactionID: "t1", environment: nil, orderID: nil, productID: nil)
        bench.ask(check, lookUp: lookUp)
        bench.send(.stop)
        let (id, _) = try #require(bench.takeRequest { if case .lookUp(let list) = $0 { list } else { nil } })
        bench.send(.ledger(id, .success(.lookedUp([nil]))))
        #expect(bench.takeAttempts().isEmpty)
        let (_, leases) = try #require(
            bench.takeRequest { if case .giveBack(let retries, _) = $0 { retries } else { nil } })
        #expect(leases == [row.lease])
    }

    private func signOff() -> (id: RequestID, content: WorkerSign)? {
        bench.takeRequest { if case .signOff(let worker) = $0 { worker } else { nil } }
    }

    @Test("signs the worker off, so that its share of limits is the others'")
    func signsOff() throws {
        bench.isSignedOff = false
        bench.send(.assigned([]))
        bench.send(.stop)
        let (id, worker) = try #require(signOff())
        #expect(worker == CoreSettings().worker && bench.stop == nil)
        bench.send(.ledger(id, .success(.done)))
        #expect(bench.stop == .clean && signOff() == nil)
    }

    @Test("signs the worker off after a sample under way, which signs it on")
    func signsOffLast() throws {
        (bench.isSignedOff, bench.isMeasured) = (false, false)
        bench.send(.assigned([]))
        bench.send(.stop)
        #expect(signOff() == nil)
        let (id, _) = try #require(bench.takeRequest { if case .measure = $0 { true } else { nil } })
        bench.send(.ledger(id, .success(.measured(bench.sample))))
        #expect(signOff() != nil)
    }

    @Test("does not wait for a ledger that is away to forget the sign")
    func signsOffNowhere() throws {
        bench.isSignedOff = false
        bench.send(.assigned([]))
        bench.isMeasured = false
        bench.wait(Sampler.longest)
        let (id, _) = try #require(bench.takeRequest { if case .measure = $0 { true } else { nil } })
        bench.send(.ledger(id, .failure(.unavailable(detail: "away"))))
        bench.send(.stop)
        #expect(signOff() == nil)
        bench.wait(.seconds(25))
        #expect(bench.stop == .clean && signOff() == nil)
    }

    @Test("ends within its limit, whatever does not answer")
    func limit() throws {
        let check = try #require(bench.read(0, in: try bench.own()).first)
        bench.conclude(check, Fixture.verified("t1"))
        bench.wait(WriteBatcher.mostPause)
        bench.send(.stop)
        bench.wait(.seconds(25))
        #expect(bench.stop == .clean)
    }

    @Test("is not clean where the ledger cannot be used")
    func unusable() throws {
        let check = try #require(bench.read(0, in: try bench.own()).first)
        bench.conclude(check, Fixture.verified("t1"))
        bench.wait(WriteBatcher.mostPause)
        let batch = try #require(bench.takeWrites().first)
        bench.send(.written(batch.id, .failure(.unusable(detail: "no such table"))))
        #expect(bench.stop == .unusable(detail: "no such table"))
    }
}
