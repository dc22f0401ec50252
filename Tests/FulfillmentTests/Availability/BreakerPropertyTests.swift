import Testing

@testable import Fulfillment

/// A breaker under random calls, beside what is to be true of it.
private struct BreakerModel {
    let policy = BreakerPolicy()
    let ceiling = 200
    var random: SeededGenerator
    var breaker: Breaker
    var elapsed = Duration.zero
    var underWay: [(pass: Breaker.Pass, from: Breaker.Phase, era: Int)] = []
    /// Changes of phase after which calls from before count no more.
    var era = 0
    var phase = Breaker.Phase.closed
    /// No call may be made before.
    var closedUntil = Duration.zero
    var healthy = 1.0
    /// What ended while it was closed.
    var recent: [(second: Int64, isFailure: Bool)] = []
    var failuresInARow: Int { recent.reversed().prefix { $0.isFailure }.count }

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        breaker = Breaker(policy: policy, ceiling: ceiling)
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
        breaker.advance(to: elapsed)
        follow()
    }

    mutating func follow() {
        if breaker.phase != phase, breaker.phase != .closed { era += 1 }
        phase = breaker.phase
        if phase != .closed { recent = [] }
    }

    mutating func begin() throws {
        advance()
        guard breaker.admits(inFlight: underWay.count, limit: ceiling) else { return }
        try #require(elapsed >= closedUntil, "a call within a pause")
        switch breaker.phase {
        case .open: Issue.record("a call while it is open")
        case .halfOpen:
            try #require(underWay.count { $0.era == era } < policy.probes, "probes pile up")
        case .ramping: try #require(underWay.count < ceiling / 2)
        case .closed: try #require(underWay.count < ceiling)
        }
        underWay.append((breaker.began(isRetry: false, elapsed: elapsed), phase, era))
    }

    mutating func end() throws {
        guard !underWay.isEmpty else { return }
        let call = underWay.remove(at: Int.random(in: 0..<underWay.count, using: &random))
        let outcome: CallOutcome =
            switch Int.random(in: 0..<200, using: &random) {
            case 0: .unknown
            case 1: .limited(wait: .seconds(Int.random(in: 0...60, using: &random)))
            default: Double.random(in: 0..<1, using: &random) < healthy ? .answered : .failed
            }
        advance()
        let before = breaker.phase
        let unit = Double.random(in: 0..<1, using: &random)
        if before == .closed, call.era == era, outcome == .answered || outcome == .failed {
            recent.append((elapsed.components.seconds, outcome == .failed))
        }
        breaker.ended(call.pass, outcome, isRetry: false, took: .milliseconds(250), elapsed: elapsed, unit: { unit })
        if case .limited(let wait?) = outcome {
            closedUntil = max(closedUntil, elapsed + max(wait, .seconds(1)))
            try #require(breaker.phase == .open)
        }
        if before != .open, breaker.phase == .open { try opened(from: before, outcome) }
        follow()
    }

    mutating func opened(from before: Breaker.Phase, _ outcome: CallOutcome) throws {
        let until = try #require(breaker.nextMoment)
        closedUntil = max(closedUntil, until)
        guard outcome == .failed else { return }
        let pause = until - elapsed
        try #require(pause >= policy.pause.base / 2 && pause <= policy.pause.cap)
        guard before == .closed, failuresInARow < policy.failuresInARow else { return }
        let second = elapsed.components.seconds
        let window = recent.filter { $0.second > second - 10 }
        try #require(window.count >= policy.leastCalls)
        try #require(window.count { $0.isFailure } * 2 >= window.count, "opened without half of the calls failing")
    }

    /// From now on everything is answered: calls must all be made again soon.
    mutating func recover() throws {
        let began = elapsed
        while breaker.phase != .closed {
            try #require(elapsed - began < .seconds(60 + 15 + 7 + 1), "does not recover")
            underWay = underWay.filter { _ in false }
            breaker.advance(to: elapsed)
            if breaker.admits(inFlight: 0, limit: ceiling) {
                let pass = breaker.began(isRetry: false, elapsed: elapsed)
                breaker.ended(
                    pass, .answered, isRetry: false, took: .milliseconds(250), elapsed: elapsed, unit: { 0.5 })
            } else if breaker.phase == .halfOpen {
                Issue.record("probes were lost")
                return
            }
            elapsed += .milliseconds(50)
        }
    }
}

@Suite("The breaker, whatever happens")
struct BreakerPropertyTests {
    @Test("keeps its promises over random calls, and recovers from wherever it is", arguments: 0..<30)
    func promises(seed: Int) throws {
        var model = BreakerModel(seed: UInt64(seed))
        for _ in 0..<10_000 { try model.step() }
        for call in model.underWay {
            let elapsed = model.elapsed
            model.breaker.ended(call.pass, .unknown, isRetry: false, took: .zero, elapsed: elapsed, unit: { 0.5 })
        }
        model.underWay = []
        try model.recover()
    }
}
