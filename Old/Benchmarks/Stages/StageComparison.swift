import Foundation

/// Stages held against earlier results, perhaps of another machine: each in units of the raw verification measured with it.
struct StageComparison {
    /// What a stage may have become dearer by without counting as dearer; other load moves a figure by less.
    static let tolerance = 1.25

    private struct Row {
        let stage: String
        let before: Double
        let now: Double
    }

    private let rows: [Row]

    init(of costs: [StageCost], with earlier: [StageCost]) {
        guard let unit = costs.first?.microseconds, let earlierUnit = earlier.first?.microseconds else {
            rows = []
            return
        }
        let before = Dictionary(earlier.map { ($0.stage, $0.microseconds / earlierUnit) }) { first, _ in first }
        rows = costs.compactMap { cost in
            before[cost.stage].map { Row(stage: cost.stage, before: $0, now: cost.microseconds / unit) }
        }
    }

    /// Stages beyond the tolerance.
    var dearer: [String] { rows.filter { $0.now > $0.before * Self.tolerance }.map(\.stage) }

    /// For people.
    var text: String {
        let lines = rows.map { row in
            row.stage.padding(toLength: 36, withPad: " ", startingAt: 0)
                + String(format: "%7.3f %7.3f %+6.0f %%", row.before, row.now, (row.now / row.before - 1) * 100)
                + (dearer.contains(row.stage) ? "  dearer" : "")
        }
        return "In raw verifications                 before     now\n" + lines.joined(separator: "\n")
    }
}
