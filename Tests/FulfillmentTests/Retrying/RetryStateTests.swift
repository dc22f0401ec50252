import Ledger
import Purchases
import Testing

@testable import Fulfillment

@Suite("Retrying one submission")
struct RetryStateTests {
    private let policy = RetryPolicy(
        backoff: Backoff(base: .milliseconds(200), cap: .seconds(30)),
        holdBackoff: Backoff(base: .seconds(5), cap: .seconds(60)), doubtWindow: .seconds(600), crowdedTries: 3)
    private let rejection = Rejection(.transactionNotFound, "Not there.")

    /// A state that expectations may change.
    private final class Tried {
        var state = RetryState()
    }

    private func step(
        _ tried: Tried, _ verdict: Verdict, at seconds: Int = 0, isCrowded: Bool = false
    ) -> RetryState.Step {
        tried.state.received(
            verdict, evidence: .receipt(base64: "AAAA"), policy: policy, elapsed: .seconds(seconds),
            now: Timestamp(milliseconds: Int64(seconds) * 1000), unit: 0.5, isCrowded: { _ in isCrowded })
    }

    @Test("settles what is definite")
    func definite() {
        let state = Tried()
        #expect(step(state, .rejected(rejection)) == .settle(.fail(rejection)))
        #expect(state.state.attempts == 1)
    }

    @Test("tries for ever while Apple cannot answer, with ceilings that double up to the cap")
    func forEver() {
        let state = Tried()
        var delays: [Duration] = []
        for second in 0..<100 {
            let verdict = Verdict.retry(.unreachable, notBefore: nil, patience: .unlimited)
            guard case .tryAgain(let delay, false) = step(state, verdict, at: second * 100_000) else {
                return #expect(Bool(false), "gave up")
            }
            delays.append(delay)
        }
        #expect(
            Array(delays.prefix(4)) == [.milliseconds(100), .milliseconds(200), .milliseconds(400), .milliseconds(800)])
        #expect(delays.last == .seconds(15))
    }

    @Test("is never earlier than Apple asked for")
    func notBefore() {
        let state = Tried()
        let verdict = Verdict.retry(.rateLimited, notBefore: Timestamp(milliseconds: 9_000), patience: .unlimited)
        #expect(step(state, verdict, at: 1) == .tryAgain(after: .milliseconds(8_100), isHeld: false))
    }

    @Test("believes the same doubt once it came back, and only if nothing else came between")
    func tries() {
        let verdict = Verdict.retry(.perhapsNotAuthentic, notBefore: nil, patience: .tries(2, then: rejection))
        let state = Tried()
        #expect(step(state, verdict) == .tryAgain(after: policy.recheckGap, isHeld: false))
        #expect(step(state, .retry(.noAnswer, notBefore: nil, patience: .unlimited)) != .settle(.fail(rejection)))
        #expect(step(state, verdict) != .settle(.fail(rejection)))
        #expect(step(state, verdict) == .settle(.fail(rejection)))
    }

    @Test("settles a doubt when its window is over")
    func window() {
        let verdict = Verdict.retry(.notFoundYet, notBefore: nil, patience: .window(then: rejection))
        let state = Tried()
        for second in [0, 10, 599] { #expect(step(state, verdict, at: second) != .settle(.fail(rejection))) }
        #expect(state.state.wait == .doubt)
        #expect(step(state, verdict, at: 600) == .settle(.fail(rejection)))
    }

    @Test("counts the time in doubt alone, not an outage before it")
    func outageBeforeDoubt() {
        let state = Tried()
        _ = step(state, .retry(.unreachable, notBefore: nil, patience: .unlimited), at: 0)
        let verdict = Verdict.retry(.notFoundYet, notBefore: nil, patience: .window(then: rejection))
        #expect(step(state, verdict, at: 25_000) != .settle(.fail(rejection)))
        #expect(step(state, verdict, at: 25_599) != .settle(.fail(rejection)))
        #expect(step(state, verdict, at: 25_600) == .settle(.fail(rejection)))
    }

    @Test("moves a doubt to the ledger when too many are in doubt, evidence and all, and fails nobody for the crowd")
    func crowded() {
        let verdict = Verdict.retry(.notFoundYet, notBefore: nil, patience: .window(then: rejection))
        let state = Tried()
        for _ in 0..<2 {
            guard case .tryAgain = step(state, verdict, isCrowded: true) else { return #expect(Bool(false)) }
        }
        #expect(
            step(state, verdict, isCrowded: true)
                == .settle(.hold(.inDoubt, detail: "Not there.", evidence: .receipt(base64: "AAAA"))))
    }

    @Test("never fails a submission for a fault of ours")
    func holds() {
        let state = Tried()
        for second in 0..<50 {
            guard
                case .tryAgain(let delay, true) = step(
                    state, .hold(.sharedSecretRefused, detail: "x"), at: second * 1000)
            else { return #expect(Bool(false)) }
            #expect(delay <= .seconds(30) && delay >= .milliseconds(2500))
        }
    }

    @Test("moves what is on hold to the ledger when too much is, evidence and all")
    func crowdedHolds() {
        let state = Tried()
        let verdict = Verdict.hold(.sharedSecretRefused, detail: "x")
        for _ in 0..<2 {
            guard case .tryAgain(_, true) = step(state, verdict, isCrowded: true) else { return #expect(Bool(false)) }
            #expect(state.state.wait == .hold)
        }
        #expect(
            step(state, verdict, isCrowded: true)
                == .settle(.hold(.sharedSecretRefused, detail: "x", evidence: .receipt(base64: "AAAA"))))
    }
}
