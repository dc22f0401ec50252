import Scheduling
import Testing

@testable import Commands

@Suite("How often a token may ask")
struct APIBudgetTests {
    private static let start = Instant(nanoseconds: 0)

    @Test("A burst at once, then so many a second")
    func bound() {
        var budget = APIBudget()
        let burst = (0..<50).map { _ in budget.take(0, at: Self.start) }
        #expect(burst.prefix(40).allSatisfy { $0 == nil } && burst.dropFirst(40).allSatisfy { $0 == 1 })
        let second = (0..<25).map { _ in budget.take(0, at: Self.start + .seconds(1)) }
        #expect(second.count { $0 == nil } == 20)
        let rested = (0..<50).map { _ in budget.take(0, at: Self.start + .seconds(3600)) }
        #expect(rested.count { $0 == nil } == 40)
    }

    @Test("One token's requests cost no other's")
    func apart() {
        var budget = APIBudget()
        for _ in 0..<100 { _ = budget.take(0, at: Self.start) }
        let other = budget.take(1, at: Self.start)
        #expect(other == nil)
    }
}
