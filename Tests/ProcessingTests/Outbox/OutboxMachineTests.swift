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
    private func take(_ items: [OutboxItem]) -> [OutboxToken] {
        turn.endCalls()
        outbox.taken([OutboxRequest(target: .topic(.granted), limit: 4)], items, &gates, &turn)
        return turn.takeSignals().compactMap {
            guard case .publish(_, .outbox(let row), nil) = $0 else { return nil }
            return row
        }
    }

    @Test("are asked for once a sample has some, a part of the room for each topic")
    func sample() {
        #expect(result { requests() }.isEmpty)
        outbox.sampled(rows: 0, at: turn.now)
        #expect(result { requests() }.isEmpty)
        outbox.sampled(rows: 1, at: turn.now)
        let asked = result { requests() }
        #expect(asked.map(\.target) == Topic.outputs.map { .topic($0) })
        #expect(asked.allSatisfy { $0.limit == 2 })
    }

    @Test("are not asked for while the reports of others are not at the ledger")
    func reports() throws {
        outbox.sampled(rows: 1, at: turn.now)
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
        outbox.sampled(rows: 1, at: turn.now)
        _ = requests()
        for row in take([item("1"), item("2", attempts: 9)]) { outbox.published(row, .failed, &turn) }
        outbox.makeReports(&turn)
        guard case .report(let reports) = turn.calls.last else { return fail() }
        let delays = reports.compactMap { report -> Int64? in
            guard case .postponed(_, let delay) = report else { return nil }
            return delay
        }
        try #require(delays.count == 2)
        #expect((1000...2000).contains(delays[0]) && (30_000...60_000).contains(delays[1]))
    }

    @Test("are given back at a stop, each once")
    func dropped() {
        outbox.sampled(rows: 1, at: turn.now)
        _ = requests()
        let rows = take([item("1"), item("2")])
        #expect(result { outbox.dropRows(&turn) } == [item("1").lease, item("2").lease])
        outbox.published(rows[0], .acknowledged, &turn)
        outbox.makeReports(&turn)
        #expect(turn.calls.isEmpty)
    }

    @Test("let outcomes wait for the broker once a sample has as many as there may be")
    func full() {
        outbox.sampled(rows: 9, at: turn.now)
        #expect(!result { outbox.work.isFull })
        outbox.sampled(rows: 10, at: turn.now)
        #expect(result { outbox.work.isFull })
    }
}
