import Testing

@testable import Fulfillment

@Suite("Wait budgets")
struct WaitBudgetTests {
    @Test("are crowded by count or by bytes, whichever comes first")
    func limits() {
        let budget = WaitBudget(maxCount: 3, maxBytes: 100)
        budget.enter(weight: 10)
        #expect(!budget.isCrowded)
        budget.enter(weight: 90)
        #expect(budget.isCrowded)
        budget.leave(weight: 90)
        #expect(!budget.isCrowded)
        budget.enter(weight: 1)
        budget.enter(weight: 1)
        #expect(budget.isCrowded)
    }

    @Test("get a place back when it moves on or is let go of")
    func places() {
        let doubts = WaitBudget(maxCount: 1, maxBytes: 100)
        let holds = WaitBudget(maxCount: 1, maxBytes: 100)
        do {
            var place = BudgetPlace(weight: 5)
            place.move(to: doubts)
            place.move(to: doubts)
            #expect(doubts.held == 1)
            place.move(to: holds)
            #expect(doubts.held == 0 && holds.held == 1)
        }
        #expect(holds.held == 0)
    }
}
