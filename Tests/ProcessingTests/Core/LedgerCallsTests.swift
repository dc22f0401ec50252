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
        calls.make(.measure(CoreSettings().worker), for: .measure, at: .zero, into: &actions)
        let id = try #require(actions.requests.first).id
        calls.failed(id, at: .zero, using: &random)
        #expect(calls.hasFailed)
        actions.removeAll()
        calls.make(.report([]), for: .report, at: .zero, into: &actions)
        #expect(actions.requests.isEmpty)
        let moment = try #require(calls.retryAt)
        calls.advance(to: moment, into: &actions)
        #expect(actions.requests.count == 2)
        #expect(calls.hasFailed, "it is sent again, and has no result yet")
        #expect(result { calls.ended(id, at: .zero) } != nil)
        #expect(!calls.hasFailed)
        #expect(calls.isUnderWay(.report))
        #expect(!calls.isUnderWay(.measure))
    }

    @Test("have a result once")
    func once() throws {
        var actions = Actions()
        calls.make(.measure(CoreSettings().worker), for: .measure, at: .zero, into: &actions)
        let id = try #require(actions.requests.first).id
        #expect(result { calls.ended(id, at: .zero) } != nil)
        #expect(result { calls.ended(id, at: .zero) } == nil)
        #expect(calls.isEmpty)
    }

    @Test("are pending since the first of them was sent, or the last one had its result")
    func unanswered() throws {
        var actions = Actions()
        #expect(calls.pendingSince == nil)
        calls.make(.measure(CoreSettings().worker), for: .measure, at: .zero + .seconds(1), into: &actions)
        calls.make(.report([]), for: .report, at: .zero + .seconds(2), into: &actions)
        #expect(calls.pendingSince == .zero + .seconds(1))
        _ = calls.ended(try #require(actions.requests.first).id, at: .zero + .seconds(20))
        #expect(calls.pendingSince == .zero + .seconds(20))
        calls.failed(try #require(actions.requests.last).id, at: .zero + .seconds(21), using: &random)
        #expect(calls.pendingSince == nil, "it has a result, and is not sent again yet")
        let moment = try #require(calls.retryAt)
        calls.advance(to: moment, into: &actions)
        #expect(calls.pendingSince == moment)
    }

    @Test("that are forgotten await no result")
    func forgotten() {
        var actions = Actions()
        calls.make(.checkpoint([]), for: .checkpoint([]), at: .zero, into: &actions)
        calls.forgetOwner()
        #expect(calls.pendingSince == nil)
    }
}
