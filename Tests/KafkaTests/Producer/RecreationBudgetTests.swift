import Scheduling
import Testing

@testable import Kafka

struct RecreationBudgetTests {
    @Test("So many within a minute, and again when the minute is over")
    func minute() {
        let start = Instant(nanoseconds: 0)
        var budget = RecreationBudget(limit: 2)
        let taken = [0, 10, 20, 59, 60, 65, 70].map { budget.take(now: start + .seconds($0)) }
        #expect(taken == [true, true, false, false, true, false, true])
    }
}
