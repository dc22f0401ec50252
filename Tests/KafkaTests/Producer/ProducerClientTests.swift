import Scheduling
import Testing

@testable import Kafka

struct TokenTableTests {
    @Test("A token is found at its index, once")
    func once() {
        var table = TokenTable()
        let indices = [10, 20, 30].map { table.insert($0) }
        #expect(table.count == 3)
        #expect(table.remove(indices[1]) == 20)
        #expect(table.remove(indices[1]) == nil)
        #expect(table.remove(-1) == nil)
        #expect(table.remove(99) == nil)
        #expect(table.count == 2)
    }

    @Test("Places are used again, so the table is as large as the most that were in it")
    func reuse() {
        var table = TokenTable()
        let first = (0..<100).map { table.insert($0) }
        for index in first { _ = table.remove(index) }
        #expect(Set((0..<100).map { table.insert($0) }) == Set(first))
    }

    @Test("All that is left comes out")
    func rest() {
        var table = TokenTable()
        let indices = (0..<5 as Range<UInt64>).map { table.insert($0) }
        _ = table.remove(indices[2])
        #expect(table.removeAll() == [0, 1, 3, 4])
        #expect(table.count == 0)
    }
}

struct RecreationBudgetTests {
    @Test("So many within a minute, and again when the minute is over")
    func minute() {
        let start = Instant(nanoseconds: 0)
        var budget = RecreationBudget(limit: 2)
        let taken = [0, 10, 20, 59, 60, 65, 70].map { budget.take(now: start + .seconds($0)) }
        #expect(taken == [true, true, false, false, true, false, true])
    }
}
