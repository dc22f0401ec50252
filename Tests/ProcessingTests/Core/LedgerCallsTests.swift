import Ledger
import Scheduling
import Testing

@testable import Processing

@Suite("Calls to the ledger's second connection")
final class LedgerCallsTests {
    private var calls = LedgerCalls()
    private var random = SplitMix64(seed: 1)

    @Test("that have no result are made again after a pause that grows, and those behind them wait")
    func again() throws {
        var actions = Actions()
        calls.make(.measure, for: .measure, into: &actions)
        let id = try #require(actions.requests.first).id
        calls.failed(id, at: .zero, using: &random)
        #expect(calls.hasFailed)
        actions.removeAll()
        calls.make(.report([]), for: .report, into: &actions)
        #expect(actions.requests.isEmpty)
        let moment = try #require(calls.retryAt)
        calls.advance(to: moment, into: &actions)
        #expect(actions.requests.count == 2)
        #expect(calls.hasFailed, "it is sent again, and has no answer yet")
        #expect(result { calls.answered(id) } != nil)
        #expect(!calls.hasFailed)
        #expect(calls.isUnderWay(.report))
        #expect(!calls.isUnderWay(.measure))
    }

    @Test("are answered once")
    func once() throws {
        var actions = Actions()
        calls.make(.measure, for: .measure, into: &actions)
        let id = try #require(actions.requests.first).id
        #expect(result { calls.answered(id) } != nil)
        #expect(result { calls.answered(id) } == nil)
        #expect(calls.isEmpty)
    }
}
