import Testing

@testable import grantor_bench

@Suite("Two builds beside each other")
struct ComparisonTests {
    @Test("The ratio is of runs that followed each other, not of medians")
    func pairs() {
        var comparison = Comparison(name: "worker")
        // The machine was half as fast in the second pair, for both.
        for (before, after) in [(100.0, 90.0), (200, 180), (100, 95)] { comparison.add(before: before, after: after) }
        #expect(comparison.ratios == [0.9, 0.9, 0.95])
        #expect(
            Comparison.text([comparison], unit: "us") == """
                us      before  after  ratio  lowest  highest
                worker  100.00  95.00   0.90    0.90     0.95
                """)
    }

    @Test("Stages are matched by name; one that a build does not have is left out")
    func stages() {
        func cost(_ stage: String, _ microseconds: Double) -> StageCost {
            StageCost(stage: stage, microseconds: microseconds)
        }
        let stages = Comparison.stages([
            (
                before: [cost("a", 2), cost("gone", 1), cost("b", 4)],
                after: [cost("b", 2), cost("new", 9), cost("a", 3)]
            ),
            (before: [cost("a", 4), cost("b", 4)], after: [cost("b", 4), cost("a", 4)]),
        ])
        #expect(stages.map(\.name) == ["b", "a"])
        #expect(stages.map(\.ratios) == [[0.5, 1], [1.5, 1]])
    }
}
