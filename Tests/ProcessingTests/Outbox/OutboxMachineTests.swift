import Contract
import Ledger
import Scheduling
import Testing

@testable import Processing

@Suite("Rows of the outbox")
final class OutboxMachineTests {
    private var turn = Turn(seed: 1)
    private var gates = GateTable(most: 100, mostCalls: 30)
    private var outbox = Outbox(most: 8, mostOfTarget: 4, full: 10)

    private func sample(_ rows: Int, _ calls: [LedgerMeasure.Calls] = [], takenAt: Int64 = 0) -> LedgerMeasure {
        LedgerMeasure(
            retries: [], waiting: [], calls: calls, outboxRows: rows, outboxAge: 0,
            takenAt: Timestamp(milliseconds: takenAt))
    }

    private func requests() -> [OutboxRequest] {
        outbox.take(&gates, &turn)
        guard case .takeOutbox(let requests) = turn.calls.last else { return [] }
        return requests
    }

    private func item(_ id: String, attempts: Int = 0) -> OutboxItem {
        let stored = Fixture.rendered(id)
        return OutboxItem(
            lease: OutboxLease(key: stored.key, step: .publish, number: 1), attempts: attempts,
            work: .publish(stored.event))
    }

    /// Takes rows that are to be published.
    /// - Returns: their tokens.
    private func take(_ items: [OutboxItem], mayBegin: Bool = true) -> [OutboxToken] {
        turn.endCalls()
        outbox.taken([OutboxRequest(target: .topic(.granted), limit: 4)], items, mayBegin: mayBegin, &gates, &turn)
        return turn.takeSignals().compactMap {
            guard case .publish(_, .outbox(let row), nil) = $0 else { return nil }
            return row
        }
    }

    @Test("are asked for once a sample has some, a part of the room for each topic")
    func sample() {
        #expect(result { requests() }.isEmpty)
        outbox.sampled(sample(0), at: turn.now)
        #expect(result { requests() }.isEmpty)
        outbox.sampled(sample(1), at: turn.now)
        let asked = result { requests() }
        #expect(asked.map(\.target) == Topic.outputs.map { .topic($0) })
        #expect(asked.allSatisfy { $0.limit == 2 })
    }

    @Test("are not asked for while the reports of others are not at the ledger")
    func reports() throws {
        outbox.sampled(sample(1), at: turn.now)
        _ = requests()
        let row = try #require(result { take([item("1")]).first })
        outbox.published(row, .acknowledged, &turn)
        outbox.schedule(at: turn.now)
        #expect(result { requests() }.isEmpty)
        outbox.makeReports(&turn)
        guard case .report(let reports) = turn.calls.last else { return fail() }
        #expect(reports == [.published(item("1").lease)])
        turn.endCalls()
        #expect(!result { requests() }.isEmpty)
    }

    @Test("are due later if the broker does not take them, and longer after more attempts")
    func postponed() throws {
        outbox.sampled(sample(1), at: turn.now)
        _ = requests()
        for row in take([item("1"), item("2", attempts: 9)]) { outbox.published(row, .failed, &turn) }
        outbox.makeReports(&turn)
        guard case .report(let reports) = turn.calls.last else { return fail() }
        let delays = reports.compactMap { report -> Int64? in
            guard case .postponed(_, let delay, _) = report else { return nil }
            return delay
        }
        try #require(delays.count == 2)
        #expect((1000...2000).contains(delays[0]) && (30_000...60_000).contains(delays[1]))
    }

    @Test("are given back at a stop, each once")
    func dropped() {
        outbox.sampled(sample(1), at: turn.now)
        _ = requests()
        let rows = take([item("1"), item("2")])
        #expect(result { outbox.dropRows(&turn) } == [item("1").lease, item("2").lease])
        outbox.published(rows[0], .acknowledged, &turn)
        outbox.makeReports(&turn)
        #expect(turn.calls.isEmpty)
    }

    @Test("that come once the worker stops begin nothing, and are given back")
    func stopping() {
        outbox.sampled(sample(1), at: turn.now)
        _ = requests()
        #expect(result { take([item("1")], mayBegin: false) }.isEmpty)
        #expect(result { outbox.dropRows(&turn) } == [item("1").lease])
    }

    @Test("of a service are asked for while calls are owed to it, and only then")
    func services() {
        turn.apps = Fixture.apps
        func asked() -> [OutboxTarget] {
            turn.endCalls()
            outbox.schedule(at: turn.now)
            return requests().map(\.target)
        }
        #expect(!result { asked() }.contains(.service(Fixture.app)))
        outbox.owes(callTo: Fixture.app, at: Timestamp(milliseconds: 50_000))
        #expect(result { asked() }.contains(.service(Fixture.app)))
        outbox.sampling()
        for takenAt in [0, 0, 51_999] as [Int64] {
            outbox.sampled(sample(1, takenAt: takenAt), at: turn.now)
            #expect(result { asked() }.contains(.service(Fixture.app)), "the sample may be older than the call")
        }
        outbox.sampled(sample(0, takenAt: 52_000), at: turn.now)
        #expect(!result { asked() }.contains(.service(Fixture.app)))
        outbox.sampled(sample(1, [.init(bundleID: Fixture.app, rows: 1, refused: 0, oldest: nil)]), at: turn.now)
        #expect(result { asked() }.contains(.service(Fixture.app)))
    }

    @Test("of a service that has all its calls are asked for as soon as a quarter of them has ended")
    func crowded() throws {
        turn.apps = Fixture.apps
        let gate = gates.index(of: .service(Fixture.app))
        let now = turn.now
        var passes: [EndpointGate.Pass] = []
        while passes.count < 100, let pass = gates.update(gate, { $0.pass(.first, at: now) }) { passes.append(pass) }
        outbox.owes(callTo: Fixture.app, at: turn.wall)
        outbox.schedule(at: now)
        #expect(result { requests() }.map(\.target) == Topic.outputs.map { .topic($0) })
        turn.endCalls()
        #expect(result { requests() }.isEmpty)
        try #require(passes.count == 30)
        func end(_ passes: ArraySlice<EndpointGate.Pass>) -> [Int] {
            for pass in passes {
                gates.update(gate) { $0.ended(pass, .replied, isRetry: false, took: .zero, at: now, unit: 0) }
            }
            return requests().filter { $0.target == .service(Fixture.app) }.map(\.limit)
        }
        #expect(result { end(passes[..<7]) }.isEmpty)
        #expect(result { end(passes[7..<8]) } == [1], "its part of the room for all targets")
    }

    @Test("that are calls leave room for events, however many there are")
    func callsLeaveRoom() {
        let calls = LedgerMeasure.Calls(bundleID: Fixture.app, rows: 95, refused: 0, oldest: nil)
        outbox.sampled(sample(104, [calls]), at: turn.now)
        #expect(!result { outbox.work.isFull })
        outbox.sampled(sample(105, [calls]), at: turn.now)
        #expect(result { outbox.work.isFull })
    }

    @Test("let outcomes wait for the broker once a sample has as many as there may be")
    func full() {
        outbox.sampled(sample(9), at: turn.now)
        #expect(!result { outbox.work.isFull })
        outbox.sampled(sample(10), at: turn.now)
        #expect(result { outbox.work.isFull })
    }
}
