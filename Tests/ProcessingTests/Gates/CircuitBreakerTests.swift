import Contract
import Scheduling
import Testing

@testable import Processing

@Suite("The breaker")
struct CircuitBreakerTests {
    private var elapsed = Duration.zero
    private var breaker = CircuitBreaker(ceiling: 64)

    /// A call that begins and ends now; nothing if none may be made.
    @discardableResult
    private mutating func call(_ outcome: CallOutcome, isRetry: Bool = false, unit: Double = 0.5) -> Bool {
        breaker.advance(to: .zero + elapsed)
        guard breaker.admits(inFlight: 0, limit: 64) else { return false }
        let pass = breaker.began(isRetry: isRetry, at: .zero + elapsed)
        breaker.ended(pass, outcome, isRetry: isRetry, at: .zero + elapsed, unit: unit)
        return true
    }

    private mutating func wait(_ duration: Duration) {
        elapsed += duration
        breaker.advance(to: .zero + elapsed)
    }

    private mutating func open() {
        while breaker.phase != .open { call(.failed) }
    }

    private mutating func recover() {
        open()
        wait(.seconds(15))
        for _ in 0..<3 { call(.replied) }
        #expect(breaker.phase == .ramping)
    }

    @Test("opens when nine tenths of the calls of ten seconds failed, and not for fewer than twenty calls")
    mutating func opens() {
        for _ in 0..<2 { call(.replied) }
        for _ in 0..<17 { call(.failed) }
        #expect(breaker.phase == .closed, "too few calls")
        call(.overloaded)
        #expect(breaker.phase == .open)
        #expect(breaker.troubledSince?.elapsed == elapsed)
    }

    @Test("knows nothing any more of a target that nobody has asked since the pause")
    mutating func knownAway() {
        open()
        #expect(breaker.isKnownAway(at: .zero + elapsed))
        wait(.seconds(15))
        #expect(breaker.phase == .halfOpen)
        #expect(breaker.isKnownAway(at: .zero + elapsed), "a probe may be under way")
        #expect(breaker.shownPhase(at: .zero + elapsed) == .halfOpen)
        wait(.seconds(150))
        #expect(breaker.phase == .halfOpen)
        #expect(!breaker.isKnownAway(at: .zero + elapsed))
        #expect(breaker.shownPhase(at: .zero + elapsed) == .closed, "so that no alert stays where nothing is asked")
        call(.failed)
        #expect(breaker.shownPhase(at: .zero + elapsed) == .open)
        #expect(breaker.isKnownAway(at: .zero + elapsed))
        elapsed += .seconds(1000)
        breaker.advance(to: .zero + elapsed)
        #expect(!breaker.isKnownAway(at: .zero + elapsed), "also where it is asked for the first time since then")
    }

    @Test("opens when fifty calls in a row failed, whatever was answered a second ago")
    mutating func row() {
        for _ in 0..<5000 { call(.replied) }
        for _ in 0..<49 { call(.failed) }
        call(.replied)
        for _ in 0..<49 { call(.failed) }
        #expect(breaker.phase == .closed)
        call(.failed)
        #expect(breaker.phase == .open)
    }

    @Test("stays closed while the answers outnumber the failures, however many fail")
    mutating func brownOut() {
        for _ in 0..<10_000 {
            call(.replied)
            call(.replied)
            call(.failed)
            wait(.milliseconds(10))
        }
        #expect(breaker.phase == .closed)
    }

    @Test("forgets failures of long ago")
    mutating func forgets() {
        for _ in 0..<19 { call(.failed) }
        wait(.seconds(11))
        for _ in 0..<19 { call(.failed) }
        #expect(breaker.phase == .closed)
    }

    @Test("a call given up on our side says nothing")
    mutating func unknown() {
        for _ in 0..<100 { call(.unknown) }
        #expect(breaker.all.total.calls == 0)
    }

    @Test("while it is open nothing is called; then a few probes, and no more than two at once")
    mutating func probes() {
        open()
        wait(.milliseconds(499))
        #expect(!breaker.admits(inFlight: 0, limit: 64))
        wait(.milliseconds(501))
        #expect(breaker.phase == .halfOpen)
        _ = breaker.began(isRetry: false, at: .zero + elapsed)
        #expect(breaker.admits(inFlight: 1, limit: 64))
        _ = breaker.began(isRetry: false, at: .zero + elapsed)
        #expect(!breaker.admits(inFlight: 2, limit: 64))
    }

    @Test("a probe that fails makes the next pause longer, up to fifteen seconds, and jitter takes off half at most")
    mutating func pauses() {
        open()
        var pauses: [Duration] = []
        for unit in [0, 0.999, 0, 0.999, 0, 0.999, 0, 0.999] {
            let until = breaker.nextMoment?.elapsed ?? .zero
            wait(until - elapsed)
            call(.failed, unit: unit)
            pauses.append((breaker.nextMoment?.elapsed ?? .zero) - elapsed)
        }
        let ceilings = [2, 4, 8, 15, 15, 15, 15, 15].map { Duration.seconds($0) }
        #expect(zip(pauses, ceilings).allSatisfy { $0 <= $1 && $0 >= $1 / 2 })
        #expect(pauses[6] == .seconds(7.5))
    }

    @Test("three answered probes, and the share of calls doubles each second until all are made")
    mutating func ramp() {
        recover()
        for share in [1, 2, 4, 8, 16, 32] {
            #expect(breaker.admits(inFlight: share - 1, limit: 64))
            #expect(!breaker.admits(inFlight: share, limit: 64))
            wait(.seconds(1))
        }
        #expect(breaker.phase == .closed)
        #expect(breaker.troubledSince?.elapsed == nil)
        #expect(breaker.admits(inFlight: 63, limit: 64))
    }

    @Test("a relapse on the ramp stops the calls again, for a moment")
    mutating func relapse() {
        recover()
        for _ in 0..<9 { call(.failed) }
        #expect(breaker.phase == .ramping, "too few calls")
        call(.failed)
        #expect(breaker.phase == .open)
        #expect((breaker.nextMoment?.elapsed ?? .zero) - elapsed <= .seconds(1))
        #expect(breaker.troubledSince?.elapsed == .zero, "the trouble has not ended in between")
    }

    @Test("no call is made before the moment that Apple names, and none is needed to learn of it twice")
    mutating func retryAfter() {
        call(.limited(wait: .seconds(40)))
        #expect(breaker.phase == .open)
        wait(.seconds(39.999))
        let early = call(.replied)
        #expect(!early)
        wait(.milliseconds(1))
        let inTime = call(.replied)
        #expect(inTime)
    }

    @Test("a moment that has passed already keeps the crowd away for a second")
    mutating func shortRetryAfter() {
        call(.limited(wait: .zero))
        #expect(breaker.nextMoment?.elapsed == elapsed + .seconds(1))
    }

    @Test("what began before the pause counts no more, but for a longer pause that it asks for")
    mutating func late() {
        let early = (0..<50).map { _ in breaker.began(isRetry: false, at: .zero + elapsed) }
        open()
        let until = breaker.nextMoment?.elapsed
        for pass in early[..<49] {
            breaker.ended(pass, .failed, isRetry: false, at: .zero + elapsed, unit: 0.5)
        }
        #expect(breaker.nextMoment?.elapsed == until)
        breaker.ended(
            early[49], .limited(wait: .seconds(30)), isRetry: false, at: .zero + elapsed, unit: 0.5)
        #expect(breaker.nextMoment?.elapsed == elapsed + .seconds(30))
    }

    @Test("failures that come at once are held against all calls that began with them, not against the few that ended")
    mutating func hastyFailures() {
        breaker = CircuitBreaker(ceiling: 1000)
        let passes = (0..<1000).map { _ in breaker.began(isRetry: false, at: .zero + elapsed) }
        for pass in passes[..<499] {
            breaker.ended(pass, .failed, isRetry: false, at: .zero + elapsed, unit: 0.5)
        }
        #expect(breaker.phase == .closed)
        breaker.ended(passes[499], .failed, isRetry: false, at: .zero + elapsed, unit: 0.5)
        #expect(breaker.phase == .open, "half of them")
    }

    @Test("what began before the last reply does not outvote failures that follow one another")
    mutating func begunBefore() {
        for _ in 0..<1000 { call(.replied) }
        for _ in 0..<200 { _ = breaker.began(isRetry: false, at: .zero + elapsed) }
        call(.replied)
        for _ in 0..<49 { call(.failed) }
        #expect(breaker.phase == .closed)
        call(.failed)
        #expect(breaker.phase == .open)
    }

    @Test("calls that hang do not hide for longer than the window that those after them fail")
    mutating func hanging() {
        for _ in 0..<1000 { _ = breaker.began(isRetry: false, at: .zero + elapsed) }
        wait(.seconds(11))
        for _ in 0..<20 { call(.failed) }
        #expect(breaker.phase == .open)
    }

    @Test("calls that were not made after all do not outvote those that failed")
    mutating func notMade() {
        for _ in 0..<20 {
            for _ in 0..<10 { call(.unknown) }
            call(.failed)
        }
        #expect(breaker.phase == .open)
    }

    @Test("retries and what goes on do not outvote first tries that fail one after the other")
    mutating func retriesUnderWay() {
        for _ in 0..<1000 { call(.replied) }
        for _ in 0..<200 { _ = breaker.began(isRetry: true, at: .zero + elapsed) }
        for _ in 0..<50 { call(.failed) }
        #expect(breaker.phase == .open)
    }

    @Test("failures that come late hold the ramp where it is, and then stop it")
    mutating func lateFailures() {
        breaker = CircuitBreaker(ceiling: 1000)
        recover()
        var underWay: [(pass: CircuitBreaker.Pass, at: Duration)] = []
        var most = 0
        for _ in 0..<100 where breaker.phase == .ramping {
            while breaker.admits(inFlight: underWay.count, limit: 1000) {
                underWay.append((breaker.began(isRetry: false, at: .zero + elapsed), elapsed))
            }
            most = max(most, underWay.count)
            wait(.milliseconds(100))
            while let call = underWay.first, call.at + .seconds(2) <= elapsed {
                underWay.removeFirst()
                breaker.ended(call.pass, .failed, isRetry: false, at: .zero + elapsed, unit: 0.5)
            }
        }
        #expect(breaker.phase == .open)
        #expect(most < 250, "\(most) calls at once, and none was answered")
    }
}
