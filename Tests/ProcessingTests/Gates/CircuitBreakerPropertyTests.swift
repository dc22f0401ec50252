import Contract
import Scheduling
import Testing

@testable import Processing

/// A breaker under random calls, with its properties.
private struct BreakerModel {
    let policy = CircuitBreaker.Policy.self
    let ceiling = 200
    var random: SplitMix64
    var breaker: CircuitBreaker
    var elapsed = Duration.zero
    var underWay: [(pass: CircuitBreaker.Pass, isRetry: Bool, era: Int)] = []
    /// Changes of phase after which calls from before count no more.
    var era = 0
    var phase = CircuitBreaker.Phase.closed
    /// No call may be made before.
    var closedUntil = Duration.zero
    var healthy = 1.0
    /// Calls that ended while it was closed.
    var recent: [(second: Int64, isFailure: Bool, isRetry: Bool)] = []
    var failuresInARow: Int { recent.reversed().prefix { $0.isFailure }.count { !$0.isRetry } }
    /// When a first attempt was last answered, and how many failed since.
    var answered: (at: Duration, failuresSince: Int)?
    /// Whether failed retries say nothing.
    var onlyFirstTriesJudge: Bool {
        guard let answered, answered.failuresSince < policy.failuresToDoubt else { return false }
        return elapsed - answered.at < policy.replyHolds
    }

    init(seed: UInt64) {
        random = SplitMix64(seed: seed)
        breaker = CircuitBreaker(ceiling: ceiling)
    }

    mutating func step() throws {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<45: try begin()
        case 45..<90: try end()
        case 90..<99: pass(.milliseconds(Int.random(in: 1...500, using: &random)))
        default:
            pass(.seconds(Int.random(in: 1...20, using: &random)))
            healthy = [0, 0.3, 0.6, 0.9, 1].randomElement(using: &random) ?? 1
        }
    }

    mutating func pass(_ duration: Duration) {
        elapsed += duration
        advance()
    }

    mutating func advance() {
        breaker.advance(to: .zero + elapsed)
        follow()
    }

    mutating func follow() {
        if breaker.phase != phase, breaker.phase != .closed { era += 1 }
        phase = breaker.phase
        if phase != .closed { recent = [] }
    }

    mutating func begin() throws {
        advance()
        let isRetry = Int.random(in: 0..<4, using: &random) == 0
        guard breaker.admits(inFlight: underWay.count, limit: ceiling, isRetry: isRetry) else { return }
        try #require(elapsed >= closedUntil, "a call within a pause")
        switch breaker.phase {
        case .open: Issue.record("a call while it is open")
        case .halfOpen:
            try #require(underWay.count { $0.era == era } < policy.probes, "probes pile up")
            let retries = underWay.count { $0.era == era && $0.isRetry }
            try #require(!isRetry || retries < policy.probes - 1, "retries take the probe of first tries")
        case .ramping: try #require(underWay.count < ceiling / 2)
        case .closed: try #require(underWay.count < ceiling)
        }
        underWay.append((breaker.began(isRetry: isRetry, at: .zero + elapsed), isRetry, era))
    }

    mutating func end() throws {
        guard !underWay.isEmpty else { return }
        let call = underWay.remove(at: Int.random(in: 0..<underWay.count, using: &random))
        let outcome: CallOutcome =
            switch Int.random(in: 0..<200, using: &random) {
            case 0: .unknown
            case 1: .limited(wait: .seconds(Int.random(in: 0...60, using: &random)))
            default: Double.random(in: 0..<1, using: &random) < healthy ? .replied : .failed
            }
        advance()
        let before = breaker.phase
        let unit = Double.random(in: 0..<1, using: &random)
        if before == .closed, call.era == era, outcome == .replied || outcome == .failed {
            recent.append((elapsed.components.seconds, outcome == .failed, call.isRetry))
        }
        if !call.isRetry, outcome == .replied { answered = (elapsed, 0) }
        if !call.isRetry, outcome == .failed { answered?.failuresSince += 1 }
        breaker.ended(call.pass, outcome, isRetry: call.isRetry, at: .zero + elapsed, unit: unit)
        if case .limited(let wait?) = outcome {
            closedUntil = max(closedUntil, elapsed + max(wait, .seconds(1)))
            try #require(breaker.phase == .open)
        }
        if before != .open, breaker.phase == .open {
            let isSilent = call.isRetry && outcome == .failed && onlyFirstTriesJudge
            try #require(!isSilent || before == .closed && isFreshFailing, "a retry stopped those who are answered")
            try opened(from: before, outcome)
        }
        follow()
    }

    mutating func opened(from before: CircuitBreaker.Phase, _ outcome: CallOutcome) throws {
        let until = try #require(breaker.nextMoment?.elapsed)
        closedUntil = max(closedUntil, until)
        guard outcome == .failed else { return }
        let pause = until - elapsed
        try #require(pause >= policy.pause.base / 2 && pause <= policy.pause.cap)
        guard before == .closed, failuresInARow < policy.failuresInARow else { return }
        guard !isFreshFailing else { return }
        try #require(!onlyFirstTriesJudge)
        try #require(isFailing(window), "opened without nine tenths of the calls failing")
    }

    var window: [(second: Int64, isFailure: Bool, isRetry: Bool)] {
        let second = elapsed.components.seconds
        return recent.filter { $0.second > second - 10 }
    }

    var isFreshFailing: Bool { isFailing(window.filter { !$0.isRetry }) }

    private func isFailing(_ calls: [(second: Int64, isFailure: Bool, isRetry: Bool)]) -> Bool {
        calls.count >= policy.leastCalls && calls.count { $0.isFailure } * 10 >= calls.count * 9
    }

    /// From now on a first attempt is answered every ten seconds, and retries fail as often as they may. All calls must
    /// soon be allowed again, and stay so.
    mutating func recoverBesidePoison() throws {
        let began = elapsed
        var newAt = elapsed
        while elapsed - began < .seconds(600) {
            breaker.advance(to: .zero + elapsed)
            for isRetry in [false, true] where isRetry || elapsed >= newAt {
                guard breaker.admits(inFlight: 0, limit: ceiling, isRetry: isRetry) else { continue }
                if !isRetry { newAt = elapsed + .seconds(10) }
                let pass = breaker.began(isRetry: isRetry, at: .zero + elapsed)
                breaker.ended(pass, isRetry ? .failed : .replied, isRetry: isRetry, at: .zero + elapsed, unit: 0.5)
            }
            // A moment that was named, a pause, three answers, the ramp.
            if elapsed - began > .seconds(60 + 15 + 20 + 7 + 1) { try #require(breaker.phase == .closed) }
            elapsed += .milliseconds(50)
        }
    }

    /// From now on everything is answered: calls must all be made again soon.
    mutating func recover() throws {
        let began = elapsed
        while breaker.phase != .closed {
            try #require(elapsed - began < .seconds(60 + 15 + 7 + 1), "does not recover")
            underWay = underWay.filter { _ in false }
            breaker.advance(to: .zero + elapsed)
            if breaker.admits(inFlight: 0, limit: ceiling) {
                let pass = breaker.began(isRetry: false, at: .zero + elapsed)
                breaker.ended(pass, .replied, isRetry: false, at: .zero + elapsed, unit: 0.5)
            } else if breaker.phase == .halfOpen {
                Issue.record("probes were lost")
                return
            }
            elapsed += .milliseconds(50)
        }
    }
}

@Suite("The breaker, whatever happens")
struct CircuitBreakerPropertyTests {
    @Test("keeps its promises over random calls, and recovers from wherever it is", arguments: 0..<30)
    func promises(seed: Int) throws {
        var model = BreakerModel(seed: UInt64(seed))
        for _ in 0..<10_000 { try model.step() }
        for call in model.underWay {
            let elapsed = model.elapsed
            model.breaker.ended(call.pass, .unknown, isRetry: call.isRetry, at: .zero + elapsed, unit: 0.5)
        }
        model.underWay = []
        var poisoned = model
        try model.recover()
        try poisoned.recoverBesidePoison()
    }
}
