import Ledger
import Purchases

/// I15: no parked submission is forgotten, and in the end none waits. Each has a moment at which it comes due by itself; whether
/// somebody then takes it is seen in `grantor_waiting_overdue_seconds`. Keeps nothing of its own.
struct ParkedCheck: Sendable {
    private var tally = Tally()
    /// Submissions that wait, parked or held: no violation before everything is settled and published.
    private var waiting = Tally()

    mutating func take(_ row: SubmissionRow) {
        switch row.outcome {
        case .parked:
            tally.check()
            if row.dueAt == nil { tally.violate("\(row.name) is parked, and never comes due") }
            waiting.violate("\(row.name) is parked, and not settled yet")
        case .granted, .failed:
            if row.dueAt != nil { tally.violate("\(row.name) is \(row.outcome.rawValue), and comes due all the same") }
        // One without evidence has no next try: its record is where it came from.
        case .held: waiting.violate("\(row.name) is held, and not settled yet")
        }
    }

    func finding(drained: Bool) -> Finding {
        var all = tally
        if drained { all.add(violationsOf: waiting) }
        return all.finding(on: .nothingParkedIsForgotten, drained: drained)
    }
}
