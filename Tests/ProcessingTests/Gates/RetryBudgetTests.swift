import Scheduling
import Testing

@testable import Processing

@Suite("The budget of retries")
struct RetryBudgetTests {
    @Test("a tenth of the first tries, a burst, and the burst again each second: never more", arguments: 0..<20)
    func bound(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        var budget = RetryBudget(mostCalls: 500)
        var elapsed = Duration.zero
        var firstTries = 0
        var retries = 0
        for _ in 0..<15_000 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4:
                budget.earn()
                firstTries += 1
            case 4..<9: if budget.take(at: .zero + elapsed) { retries += 1 }
            default: elapsed += .milliseconds(Int.random(in: 0...20, using: &random))
            }
            let seconds = elapsed / .seconds(1)
            let bound = 0.1 * Double(firstTries) + 125 + 125 * seconds + 0.001
            guard Double(retries) <= bound else {
                #expect(Double(retries) <= bound)
                return
            }
        }
        #expect(retries > 1000)
    }

    @Test("an empty budget has a retry at the moment that it says, and not before")
    func moment() {
        var budget = RetryBudget(mostCalls: 40)
        for _ in 0..<10 { expect(true, &budget, .zero) }
        expect(false, &budget, .zero)
        expect(false, &budget, .milliseconds(99))
        #expect(budget.nextMoment.elapsed > .milliseconds(99))
        let moment = budget.nextMoment.elapsed
        expect(true, &budget, moment)
    }

    @Test("ten first tries pay for a retry")
    func earned() {
        var budget = RetryBudget(mostCalls: 40)
        for _ in 0..<10 { expect(true, &budget, .zero) }
        for _ in 0..<9 { budget.earn() }
        expect(false, &budget, .zero)
        budget.earn()
        budget.earn()
        expect(true, &budget, .zero)
    }

    private func expect(
        _ isTaken: Bool, _ budget: inout RetryBudget, _ elapsed: Duration,
        _ location: SourceLocation = #_sourceLocation
    ) {
        let taken = budget.take(at: .zero + elapsed)
        #expect(taken == isTaken, sourceLocation: location)
    }
}
