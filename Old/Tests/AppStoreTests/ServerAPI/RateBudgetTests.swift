import Testing

@testable import AppStore

@Suite("Rate budget")
struct RateBudgetTests {
    /// Most calls within any half-open window of a length.
    private func most(_ calls: [Duration], within window: Duration) -> Int {
        var start = 0
        var most = 0
        for end in calls.indices {
            while calls[end] - calls[start] >= window { start += 1 }
            most = max(most, end - start + 1)
        }
        return most
    }

    @Test("over any second and any hour there are no more calls than the limit", arguments: 0..<20 as Range<UInt64>)
    func limit(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let limit = try #require([0.7, 1.0, 5.0, 50.0].randomElement(using: &generator))
        let share = try #require([1.0, 0.5, 0.3, 0.07].randomElement(using: &generator))
        var budget = RateBudget(perSecond: limit, share: share)
        var elapsed = Duration.zero
        var calls: [Duration] = []
        while elapsed < .seconds(7200), calls.count < 20_000 {
            switch budget.reserve(elapsed: elapsed, isOnTheWay: false) {
            case .at(let moment):
                #expect(moment >= elapsed && moment - elapsed <= RateBudget.horizon)
                calls.append(moment)
            case .full(let moment):
                #expect(moment > elapsed)
                elapsed = moment
            }
            switch Int.random(in: 0..<500, using: &generator) {
            case 0: budget.close(until: elapsed + .seconds(Int.random(in: 0..<60, using: &generator)))
            case 1..<10: elapsed += .milliseconds(Int.random(in: 0..<5000, using: &generator))
            default: break
            }
        }
        #expect(calls == calls.sorted())
        #expect(Double(most(calls, within: .seconds(1))) <= max(limit * share, 1).rounded(.up))
        #expect(Double(most(calls, within: .seconds(3600))) <= limit * share * 3600)
    }

    @Test("shares that add up to 1 make one budget", arguments: [2, 3, 7, 50])
    func shares(workers: Int) {
        var calls: [Duration] = []
        for _ in 0..<workers {
            var budget = RateBudget(perSecond: 5, share: 1 / Double(workers))
            var elapsed = Duration.zero
            while elapsed < .seconds(3700) {
                switch budget.reserve(elapsed: elapsed, isOnTheWay: false) {
                case .at(let moment): calls.append(moment)
                case .full(let moment): elapsed = moment
                }
            }
        }
        let most = most(calls.sorted(), within: .seconds(3600))
        #expect(most <= 18_000)
        #expect(most >= 18_000 - workers)
    }

    @Test("a share is a part of the limit, and never none or more than all")
    func share() {
        var tenth = RateBudget(perSecond: 50, share: 0.1)
        #expect(tenth.reserve(elapsed: .zero, isOnTheWay: false) == .at(.zero))
        #expect(tenth.reserve(elapsed: .zero, isOnTheWay: false) == .at(.milliseconds(200)))
        #expect(RateBudget(perSecond: 50, share: 2) == RateBudget(perSecond: 50))
        var none = RateBudget(perSecond: 50, share: 0)
        #expect(none.reserve(elapsed: .zero, isOnTheWay: false) == .at(.zero))
        #expect(none.reserve(elapsed: .zero, isOnTheWay: false) == .full(until: .seconds(3599)))
        #expect(RateBudget(perSecond: 50, share: -1) == RateBudget(perSecond: 0))
    }

    @Test("gives moments out no further ahead than its horizon")
    func horizon() {
        var budget = RateBudget(perSecond: 2)
        #expect(budget.reserve(elapsed: .zero, isOnTheWay: false) == .at(.zero))
        #expect(budget.reserve(elapsed: .zero, isOnTheWay: false) == .at(.milliseconds(500)))
        #expect(budget.reserve(elapsed: .zero, isOnTheWay: false) == .at(.seconds(1)))
        #expect(budget.reserve(elapsed: .zero, isOnTheWay: false) == .full(until: .milliseconds(500)))
        #expect(budget.reserve(elapsed: .milliseconds(500), isOnTheWay: false) == .at(.milliseconds(1500)))
    }

    @Test("time that was not used is not saved up")
    func noBurst() {
        var budget = RateBudget(perSecond: 2)
        #expect(budget.reserve(elapsed: .seconds(3600), isOnTheWay: false) == .at(.seconds(3600)))
        #expect(budget.reserve(elapsed: .seconds(3600), isOnTheWay: false) == .at(.milliseconds(3_600_500)))
    }

    @Test("a pause that Apple asks for is kept, and a shorter one does not end it")
    func pause() {
        var budget = RateBudget(perSecond: 50)
        budget.close(until: .seconds(30))
        budget.close(until: .seconds(10))
        #expect(budget.reserve(elapsed: .zero, isOnTheWay: false) == .full(until: .seconds(29)))
        #expect(budget.reserve(elapsed: .seconds(30), isOnTheWay: false) == .at(.seconds(30)))
    }

    @Test("a try that goes on gets the next moment however far apart they are, and nobody begins before it")
    func onTheWay() {
        var budget = RateBudget(perSecond: 5, share: 0.01)
        #expect(budget.reserve(elapsed: .zero, isOnTheWay: false) == .at(.zero))
        #expect(budget.reserve(elapsed: .milliseconds(50), isOnTheWay: true) == .at(.seconds(20)))
        #expect(budget.reserve(elapsed: .seconds(20), isOnTheWay: false) == .full(until: .seconds(39)))
        #expect(budget.reserve(elapsed: .seconds(20), isOnTheWay: true) == .at(.seconds(40)))
        for call in 3...4 {
            #expect(budget.reserve(elapsed: .seconds(20), isOnTheWay: true) == .at(.seconds(call * 20)))
        }
        // Even they have a bound.
        #expect(budget.reserve(elapsed: .seconds(10), isOnTheWay: true) == .full(until: .seconds(20)))
    }

    @Test("who was given a moment before a pause hears of it")
    func paused() {
        var budget = RateBudget(perSecond: 50)
        #expect(!budget.isPaused(elapsed: .zero))
        budget.close(until: .seconds(30))
        budget.close(until: .seconds(10))
        #expect(budget.isPaused(elapsed: .seconds(29)))
        #expect(!budget.isPaused(elapsed: .seconds(30)))
    }
}
