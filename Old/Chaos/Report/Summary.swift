import Ledger
import Purchases

/// What a run came to, for people.
struct Summary: Sendable {
    var seed: UInt64
    var faults: [ScheduledFault]
    var submitted: [Submitted]
    var sentAgain: Int
    var ledger: LedgerContents
    var topics: TopicIndex
    var told: ToldGrants
    var drain: Duration
    var exits: [String: Int]
    var starts: Int
    var stops: [PartitionStops.Stop]
    var violations: [Violation]

    /// Violations of one rule that are printed; the number of all is.
    static let examples = 10
    /// Tries after which a worker has a submission wait in the ledger.
    private static let memoryTries = 4

    var text: String {
        var table = TextTable()
        table.add("seed", seed)
        table.add("submissions", submitted.count)
        table.add("submissions that waited in the ledger", ledger.submissions.count { $0.attempts > Self.memoryTries })
        table.add("grants", ledger.grants.count)
        table.add("grants that an inventory service was told of", told.firstYes.count)
        table.add("calls for them, repeats included", told.calls)
        table.add("events", ledger.events.count)
        table.add("repeats of events on the topics", topics.repeats)
        table.add("submissions sent again for want of an answer", sentAgain)
        table.add("time to drain after the last fault", drain.text)
        table.add("longest stop of a partition", secondsText(stops.first?.milliseconds ?? 0))
        let median = stops.isEmpty ? 0 : stops[stops.count / 2].milliseconds
        table.add("median of the partitions' longest stops", secondsText(median))
        table.add(title: "submissions by kind")
        for (kind, claims) in Dictionary(grouping: submitted, by: \.claim.kind).sorted(by: { $0.key < $1.key }) {
            table.add(kind.rawValue, claims.count)
        }
        table.add(title: "outcomes")
        for (outcome, rows) in Dictionary(grouping: ledger.submissions, by: { $0.reason ?? $0.outcome.rawValue })
            .sorted(by: { $0.key < $1.key })
        {
            table.add(outcome, rows.count)
        }
        table.add(title: "faults (\(faults.count))")
        for (kind, faults) in Dictionary(grouping: faults, by: \.kind).sorted(by: { $0.key < $1.key }) {
            table.add(kind.rawValue, faults.count)
        }
        table.add(title: "processes of workers (\(starts) started), by how they ended")
        for (exit, count) in exits.sorted(by: { $0.key < $1.key }) { table.add(exit, count) }
        table.add(title: "what must hold")
        for rule in Violation.Rule.allCases {
            let count = violations.count { $0.rule == rule }
            table.add(rule.rawValue, count == 0 ? "yes" : "VIOLATED \(count) times")
        }
        return table.text + examples
    }

    private var examples: String {
        guard !violations.isEmpty else { return "" }
        let lines = Violation.Rule.allCases.flatMap { rule in
            violations.filter { $0.rule == rule }.prefix(Self.examples).map { "  \($0)" }
        }
        return "\n\nviolations, the first of each:\n" + lines.joined(separator: "\n")
    }
}
