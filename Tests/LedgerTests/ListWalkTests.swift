import Ledger
import Testing

@Suite("The walk of a list whose rows no index finds")
struct ListWalkTests {
    /// Looks until the walk ends.
    private func looks(_ walk: inout ListWalk) -> [ClosedRange<Int64>] {
        var looks: [ClosedRange<Int64>] = []
        while let places = walk.next {
            looks.append(places)
            walk.looked()
        }
        return looks
    }

    @Test("goes from the newest place to the oldest, and looks at none twice")
    func all() {
        var walk = ListWalk(17...25_016)
        #expect(walk.rest == 25_017)
        #expect(looks(&walk) == [15_017...25_016, 5_017...15_016, 17...5_016])
        #expect(walk.rest == nil)
    }

    @Test("looks at no more than a part of a large table, and says where the next one goes on")
    func part() {
        var walk = ListWalk(1...2_500_000)
        let first = looks(&walk)
        #expect(first.count == 100 && first.last == 1_500_001...1_510_000 && walk.rest == 1_500_001)
        walk = ListWalk(1...2_500_000, before: walk.rest)
        #expect(looks(&walk).first == 1_490_001...1_500_000 && walk.rest == 500_001)
        walk = ListWalk(1...2_500_000, before: walk.rest)
        #expect(looks(&walk).last == 1...10_000 && walk.rest == nil)
    }

    @Test("has nothing to look at in an empty table, or behind its end", arguments: [nil, Int64.min, 0, 5, .max])
    func nothing(before: Int64?) {
        var walk = ListWalk(nil, before: before)
        #expect(looks(&walk).isEmpty && walk.rest == nil)
        walk = ListWalk(5...9, before: before)
        #expect(looks(&walk) == (before == nil || before == .max ? [5...9] : []) && walk.rest == nil)
    }
}
