/// What one thing took before a change and after it, in runs by turns.
struct Comparison: Encodable, Sendable {
    let name: String
    private(set) var before: [Double] = []
    private(set) var after: [Double] = []

    init(name: String) { self.name = name }

    /// One figure of runs by turns.
    init<Run>(name: String, of pairs: [(before: Run, after: Run)], by figure: (Run) -> Double) {
        self.name = name
        before = pairs.map { figure($0.before) }
        after = pairs.map { figure($0.after) }
    }

    /// Adds two runs that followed each other.
    mutating func add(before: Double, after: Double) {
        self.before.append(before)
        self.after.append(after)
    }

    /// After in units of before, of each pair.
    var ratios: [Double] { zip(before, after).map { $1 / $0 } }

    /// Of stages that both builds have, by their names, in the order of the newer one.
    static func stages(_ rounds: [(before: [StageCost], after: [StageCost])]) -> [Comparison] {
        let names = rounds.first?.after.map(\.stage) ?? []
        return names.compactMap { name in
            var comparison = Comparison(name: name)
            for round in rounds {
                guard let before = round.before.first(where: { $0.stage == name }),
                    let after = round.after.first(where: { $0.stage == name })
                else { continue }
                comparison.add(before: before.microseconds, after: after.microseconds)
            }
            return comparison.before.isEmpty ? nil : comparison
        }
    }

    /// For people.
    static func text(_ comparisons: [Comparison], unit: String) -> String {
        var table = ColumnTable(unit, "before", "after", "ratio", "lowest", "highest")
        for comparison in comparisons {
            let ratios = comparison.ratios
            table.add(
                comparison.name, Statistics.median(comparison.before).text(2),
                Statistics.median(comparison.after).text(2), Statistics.median(ratios).text(2),
                (ratios.min() ?? .nan).text(2), (ratios.max() ?? .nan).text(2))
        }
        return table.text
    }
}
