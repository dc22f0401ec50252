import Ledger
import Testing

@Suite("The walk that deletes old answers")
struct PruneWalkTests {
    /// Walks over a table of places with old answers.
    /// - Returns: the steps, in order, and the places that are left.
    private func walk(
        _ places: ClosedRange<Int64>, isTrial: Bool, portion: Int = PruneWalk.mostAtOnce, old: Set<Int64>
    ) -> (steps: [PruneWalk.Step], left: Set<Int64>, count: Int) {
        var walk = PruneWalk(places, isTrial: isTrial, portion: portion)
        var steps: [PruneWalk.Step] = []
        var left = old
        while let step = walk.next {
            steps.append(step)
            let found = left.filter(step.places.contains)
            if !step.isTrial { left.subtract(found) }
            walk.ended(found.count)
        }
        return (steps, left, walk.count)
    }

    @Test("looks at wide stretches, and deletes in small steps where it finds some")
    func steps() {
        let (steps, left, count) = walk(0...30_000, isTrial: false, old: [1, 10_000, 25_000, 30_001])
        #expect(left == [30_001] && count == 3)
        let looks = steps.filter(\.isTrial)
        #expect(looks.map(\.places) == [1...10_000, 10_001...20_000, 20_001...30_000])
        #expect(steps.filter { !$0.isTrial }.allSatisfy { $0.places.count == PruneWalk.mostAtOnce })
        #expect(steps.count == 3 + 2 * 50, "nothing is deleted of the stretch that has none")
    }

    @Test("deletes nothing as a trial, and counts what it would")
    func trial() {
        let (steps, left, count) = walk(0...10_001, isTrial: true, old: [1, 10_001])
        #expect(left.count == 2 && count == 2)
        #expect(steps.map(\.places) == [1...10_000, 10_001...10_001])
    }

    @Test("deletes from no more places at once than it is told, and than there may be", arguments: [0, 1, 7, 9_999])
    func portions(portion: Int) {
        let (steps, left, _) = walk(0...500, isTrial: false, portion: portion, old: Set(1...500))
        let most = min(max(portion, 1), PruneWalk.mostAtOnce)
        #expect(left.isEmpty && steps.allSatisfy { $0.isTrial || $0.places.count <= most })
    }

    @Test("ends with an empty table, and at the last place of a full one")
    func ends() {
        #expect(PruneWalk(0...0, isTrial: false).next == nil)
        #expect(PruneWalk(0...0, isTrial: false).part == 1)
        let (steps, left, _) = walk(4...5, isTrial: false, old: [4, 5])
        #expect(steps.map(\.places) == [5...5, 5...5] && left == [4])
    }
}
