import Contract
import Ledger
import Scheduling
import Testing

@testable import Processing

@Suite("When due rows are taken")
final class DueWorkTests {
    private var turn = Turn(seed: 1)
    private var gates = GateTable(most: 300, mostCalls: 100)
    private var work = DueWork(heldPerCall: 4, endpointsPerCall: 2)

    private func requests(rows: Int = 1000) -> [DueRequest] {
        work.take(DueWork.Room(rows: rows, bytes: 1 << 20, isWorthACall: false), &gates, &turn)
        guard case .takeDue(let requests, _) = turn.calls.last else { return [] }
        turn.endCalls()
        return requests
    }

    private func endpoint(_ app: String) -> Endpoint { Endpoint(.serverAPI, .production, key: app) }
    private func gate(_ app: String) -> Int { gates.index(of: .apple(endpoint(app))) }

    @Test("nothing is asked for before a sample or this worker's own writes say that there is something")
    func idle() {
        #expect(result { requests() }.isEmpty)
        work.sampled([gate("a")], hasHeld: false, takenAt: turn.wall)
        work.schedule(at: turn.now)
        #expect(result { requests() }.map(\.endpoint) == [endpoint("a")])
    }

    @Test("a round over more endpoints than one call has goes on after a pause, and begins with none twice")
    func round() {
        work.sampled(["a", "b", "c"].map(gate), hasHeld: false, takenAt: turn.wall)
        work.schedule(at: turn.now)
        let first = result { requests() }.map(\.endpoint)
        #expect(result { requests() }.isEmpty)
        turn.wait(.milliseconds(250))
        #expect(first + result { requests() }.map(\.endpoint) == ["a", "b", "c"].map(endpoint))
    }

    @Test("rows that this worker wrote while a sample was under way are not forgotten by it")
    func newRows() {
        work.sampling()
        work.addRows(at: gate("b"), turn.wall)
        work.sampled([], hasHeld: false, takenAt: turn.wall)
        work.schedule(at: turn.now)
        #expect(result { requests() }.map(\.endpoint) == [endpoint("b")])
    }

    @Test("nor by one that was taken before them, because workers share samples")
    func sharedSample() {
        work.addRows(at: gate("b"), turn.wall)
        work.sampling()
        work.sampled([], hasHeld: false, takenAt: turn.wall)
        #expect(work.hasRows)
        work.sampled([], hasHeld: false, takenAt: turn.wall.advanced(by: .seconds(2)))
        #expect(!work.hasRows)
    }

    @Test("held rows have a part of each call")
    func held() {
        _ = work.addHeld(triedAt: nil, at: turn.wall)
        work.addRows(at: gate("a"), turn.wall)
        work.schedule(at: turn.now)
        let asked = result { requests(rows: 8) }
        #expect(asked.map(\.endpoint) == [nil, endpoint("a")])
        #expect(asked.map(\.limit) == [2, 6])
    }

    @Test("large rows keep neither endpoints nor held rows from their turn, whoever fills a call's bytes")
    func largeRows() {
        _ = work.addHeld(triedAt: nil, at: turn.wall)
        for app in ["a", "b"] { work.addRows(at: gate(app), turn.wall) }
        work.schedule(at: turn.now)
        /// The first request of the next call, whose rows fill its bytes.
        func next() -> Endpoint? {
            turn.wait(.milliseconds(250))
            let asked = requests()
            #expect(Set(asked).count == asked.count, "nothing is asked for twice")
            guard let first = asked.first else { return endpoint("none") }
            let cause = first.endpoint.map { WaitCause.retrying(.noAnswer, $0) } ?? .held(.noDecision)
            work.taken(asked, bytes: 1, [Fixture.due(1, cause: cause)], &gates, at: turn.now)
            return first.endpoint
        }
        let served = (1...30).map { _ in result { next() } }
        for wanted in [nil, endpoint("a"), endpoint("b")] {
            #expect(served.count { $0 == wanted } >= 5, "\(served)")
        }
    }

    @Test("a held row that was tried before the apps file changed, and written after, is taken before it is due")
    func changedMeanwhile() {
        /// Whether the next call takes held rows early; none is there.
        func early() -> Bool? {
            turn.wait(.milliseconds(250))
            work.schedule(at: turn.now)
            let asked = requests()
            work.taken(asked, bytes: 1 << 20, [], &gates, at: turn.now)
            return asked.first?.beforeDue
        }
        let (tried, changed) = (turn.wall, turn.wall.advanced(by: .milliseconds(1)))
        work.rulesChanged(at: changed)
        #expect(result { early() } == true)
        #expect(result { early() } == nil)
        #expect(result { work.addHeld(triedAt: tried, at: changed) })
        #expect(result { early() } == true)
        #expect(result { early() } == false)
        #expect(!result { work.addHeld(triedAt: changed.advanced(by: .milliseconds(1)), at: changed) })
        #expect(result { early() } == false)
    }

    @Test("without room for a row nothing is asked for before a pause is over")
    func noRoom() {
        work.addRows(at: gate("a"), turn.wall)
        work.schedule(at: turn.now)
        #expect(result { requests(rows: 0) }.isEmpty)
        #expect(result { requests() }.isEmpty)
        turn.wait(.milliseconds(250))
        #expect(!result { requests() }.isEmpty)
    }

    @Test("there may be more if all rows came that were asked for, in number or in bytes", arguments: [1, 1 << 20])
    func more(bytes: Int) {
        let request = DueRequest(endpoint: Fixture.verifyReceipt, limit: bytes == 1 ? 9 : 1, beforeDue: false)
        work.taken([request], bytes: bytes, [Fixture.due(1)], &gates, at: turn.now)
        #expect(work.nextAt == turn.now + .milliseconds(250))
    }

    @Test("there is no more if fewer came")
    func noMore() {
        let request = DueRequest(endpoint: Fixture.verifyReceipt, limit: 2, beforeDue: false)
        work.taken([request], bytes: 1 << 20, [Fixture.due(1)], &gates, at: turn.now)
        #expect(work.nextAt == nil)
    }

    @Test("a suspect row comes alone, so the others are asked for at once")
    func suspect() {
        let request = DueRequest(endpoint: Fixture.verifyReceipt, limit: 2, beforeDue: false)
        work.taken([request], bytes: 1 << 20, [Fixture.due(1, takings: 3)], &gates, at: turn.now)
        #expect(work.nextAt == turn.now)
    }
}
