import Purchases
import Testing

@testable import Fulfillment

@Suite("One target's calls, while it is probed")
struct TargetCallsTests {
    private var elapsed = Duration.zero
    private var calls = TargetCalls(
        .verifyReceipt(.production), policy: AvailabilityPolicy(), mostCalls: 40)

    private mutating func next() -> (id: CallerID, lane: CallLine.Lane, pass: Breaker.Pass)? {
        calls.next(elapsed: elapsed, beginsTries: true)
    }

    private mutating func end(_ pass: Breaker.Pass, _ lane: CallLine.Lane, _ outcome: CallOutcome) {
        calls.ended(
            pass, lane, outcome, isRetry: lane == .again, took: .zero, elapsed: elapsed, unit: { 0.5 })
    }

    /// Twenty first tries fail, the pause passes, and these wait to be tried again.
    private mutating func probe(waiting: Range<UInt64>) {
        for _ in 0..<20 {
            guard let pass = calls.passAtOnce(.first, elapsed: elapsed) else { break }
            end(pass, .first, .failed)
        }
        for id in waiting { calls.append(CallerID(rawValue: id), .again) }
        elapsed = calls.nextMoment(beginsTries: true) ?? elapsed
        calls.advance(to: elapsed)
        #expect(calls.breaker.phase == .halfOpen)
    }

    @Test("what is new is called about at once, though retries wait and one hangs")
    mutating func hanging() {
        probe(waiting: 0..<30)
        #expect(next()?.lane == .again)
        #expect(next()?.lane == nil)
        #expect(calls.nextMoment(beginsTries: true) == nil, "time brings no second one")
        let atOnce = calls.passAtOnce(.again, elapsed: elapsed)
        #expect(atOnce == nil)
        calls.append(CallerID(rawValue: 100), .first)
        #expect(next()?.id == CallerID(rawValue: 100))
    }

    @Test("retries whose failures end no phase go by their budget, and go on with it")
    mutating func paced() {
        probe(waiting: 0..<1000)
        calls.append(CallerID(rawValue: 1000), .first)
        if let new = next() { end(new.pass, new.lane, .answered) }
        let start = elapsed
        var made = 0
        while elapsed - start < .seconds(10) {
            while let retry = next() {
                made += 1
                end(retry.pass, retry.lane, .failed)
            }
            guard let moment = calls.nextMoment(beginsTries: true), moment > elapsed else { break }
            elapsed = moment
        }
        #expect(calls.breaker.phase == .halfOpen)
        // A burst of ten, and ten a second.
        #expect(made > 90 && made <= 112, "\(made)")
    }
}
