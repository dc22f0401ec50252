import Contract
import Scheduling
import Testing

@testable import Processing

@Suite("The breaker, beside retries that fail again and again")
struct CircuitBreakerRetriesTests {
    private static let policy = CircuitBreaker.Policy.self
    private var elapsed = Duration.zero
    private var breaker = CircuitBreaker(ceiling: 64)

    private mutating func begin(isRetry: Bool = false) -> CircuitBreaker.Pass {
        breaker.began(isRetry: isRetry, at: .zero + elapsed)
    }

    private mutating func end(_ pass: CircuitBreaker.Pass, _ outcome: CallOutcome, isRetry: Bool = false) {
        breaker.ended(pass, outcome, isRetry: isRetry, at: .zero + elapsed, unit: 0.5)
    }

    /// A call that begins and ends now, if it may be made.
    private mutating func call(_ outcome: CallOutcome, isRetry: Bool = false) {
        breaker.advance(to: .zero + elapsed)
        guard breaker.admits(inFlight: 0, limit: 64, isRetry: isRetry) else { return }
        end(begin(isRetry: isRetry), outcome, isRetry: isRetry)
    }

    private mutating func wait(_ duration: Duration) {
        elapsed += duration
        breaker.advance(to: .zero + elapsed)
    }

    /// Twenty submissions are asked about for the first time, and fail.
    private mutating func open() {
        for _ in 0..<Self.policy.leastCalls { call(.failed) }
        #expect(breaker.phase == .open)
    }

    private mutating func probe() {
        wait((breaker.nextMoment?.elapsed ?? elapsed) - elapsed)
        #expect(breaker.phase == .halfOpen)
    }

    @Test(
        "stays closed, however many fail, for as long as new ones are answered",
        arguments: [CallOutcome.failed, .overloaded])
    mutating func poison(outcome: CallOutcome) {
        for _ in 0..<100 {
            call(.replied)
            for _ in 0..<100 {
                for _ in 0..<5 { call(outcome, isRetry: true) }
                wait(.milliseconds(599))
            }
        }
        #expect(breaker.phase == .closed)
    }

    @Test("opens when a minute has passed since a new one was answered")
    mutating func answerOfLongAgo() {
        call(.replied)
        wait(Self.policy.replyHolds - .seconds(1))
        for _ in 0..<100 { call(.failed, isRetry: true) }
        #expect(breaker.phase == .closed)
        wait(.seconds(1))
        call(.failed, isRetry: true)
        #expect(breaker.phase == .open)
    }

    @Test("opens when none but retries were ever heard of: with nothing new an outage is noticed, too")
    mutating func nothingNew() {
        for _ in 0..<Self.policy.leastCalls { call(.failed, isRetry: true) }
        #expect(breaker.phase == .open)
    }

    @Test(
        "opens when new ones fail: three say that the last reply is none of now, one or two are poison like the others"
    )
    mutating func newOnesFail() {
        call(.replied)
        for _ in 0..<100 { call(.failed, isRetry: true) }
        for _ in 0..<2 {
            call(.failed)
            call(.failed, isRetry: true)
        }
        #expect(breaker.phase == .closed)
        call(.failed)
        #expect(breaker.phase == .open)
    }

    @Test("a probe that is a retry and fails does not end the phase while new ones are answered")
    mutating func halfOpen() {
        open()
        probe()
        for _ in 0..<2 {
            call(.replied)
            for _ in 0..<100 {
                call(.failed, isRetry: true)
                wait(.milliseconds(100))
            }
            #expect(breaker.phase == .halfOpen)
        }
        call(.replied)
        #expect(breaker.phase == .ramping)
    }

    @Test("a probe that is a retry and fails does not end the phase while a new one is under way")
    mutating func beside() {
        open()
        probe()
        let new = begin()
        end(begin(isRetry: true), .failed, isRetry: true)
        #expect(breaker.phase == .halfOpen)
        end(new, .failed)
        #expect(breaker.phase == .open, "it has more to say, either way")
    }

    @Test("without a new one a probe that is a retry and fails ends the phase, as any does")
    mutating func probesOfOld() {
        open()
        probe()
        call(.failed, isRetry: true)
        #expect(breaker.phase == .open)
    }

    @Test("what new ones were answered is kept through the pauses that retries and other new ones cause")
    mutating func kept() {
        open()
        for isRetry in [true, false] {
            probe()
            call(.replied)
            wait(Self.policy.replyHolds)
            call(.failed, isRetry: isRetry)
            #expect(breaker.phase == .open, "nothing new was heard for a minute")
        }
        probe()
        call(.replied)
        #expect(breaker.phase == .ramping)
    }

    @Test("a reply to a probe makes the next pause as short as the first, because it replies sometimes")
    mutating func shortPause() {
        open()
        for _ in 0..<5 {
            probe()
            call(.failed)
        }
        #expect((breaker.nextMoment?.elapsed ?? elapsed) - elapsed > .seconds(7))
        probe()
        call(.replied)
        call(.failed)
        #expect((breaker.nextMoment?.elapsed ?? elapsed) - elapsed <= Self.policy.pause.base)
    }

    @Test("a reply that comes when the phase is over is remembered all the same")
    mutating func lateAnswer() {
        open()
        probe()
        let late = begin()
        call(.failed)
        #expect(breaker.phase == .open)
        end(late, .replied)
        probe()
        call(.failed, isRetry: true)
        #expect(breaker.phase == .halfOpen)
    }

    @Test("failures of retries neither stop nor hold the ramp while new ones are answered")
    mutating func ramping() {
        open()
        probe()
        for _ in 0..<3 { call(.replied) }
        #expect(breaker.phase == .ramping)
        for _ in 0..<6 {
            for _ in 0..<50 { call(.failed, isRetry: true) }
            wait(.seconds(1))
        }
        #expect(breaker.phase == .closed)
    }

    @Test("new ones that fail stop the ramp, as ever")
    mutating func relapse() {
        open()
        probe()
        for _ in 0..<3 { call(.replied) }
        for _ in 0..<Self.policy.leastRampCalls { call(.failed) }
        #expect(breaker.phase == .open)
    }

    @Test(
        "that there are too many calls is believed of anybody, in every phase",
        arguments: [CallOutcome.limited(wait: nil), .limited(wait: .seconds(30))])
    mutating func limited(outcome: CallOutcome) {
        call(.replied)
        call(outcome, isRetry: true)
        #expect(breaker.phase == .open)
        probe()
        call(.replied)
        call(outcome, isRetry: true)
        #expect(breaker.phase == .open)
        probe()
        for _ in 0..<3 { call(.replied) }
        #expect(breaker.phase == .ramping)
        call(outcome, isRetry: true)
        #expect(breaker.phase == .open)
    }

    @Test("of the probes one is left to new ones, whatever hangs")
    mutating func slots() {
        open()
        probe()
        #expect(breaker.admits(inFlight: 0, limit: 64, isRetry: true))
        let hanging = begin(isRetry: true)
        #expect(!breaker.admits(inFlight: 1, limit: 64, isRetry: true))
        #expect(breaker.admits(inFlight: 1, limit: 64))
        end(hanging, .unknown, isRetry: true)
        #expect(breaker.admits(inFlight: 0, limit: 64, isRetry: true))
    }
}
