import Ledger
import Purchases

/// I15: no parked submission is forgotten. Each has a moment at which it comes due by itself; whether somebody then takes it
/// is seen in `grantor_waiting_overdue_seconds`. Keeps nothing of its own.
struct ParkedCheck: Sendable {
    private var tally = Tally()

    mutating func take(_ row: SubmissionRow) {
        switch row.outcome {
        case .parked:
            tally.check()
            if row.dueAt == nil { tally.violate("\(row.name) is parked, and never comes due") }
        case .granted, .failed:
            if row.dueAt != nil { tally.violate("\(row.name) is \(row.outcome.rawValue), and comes due all the same") }
        // One without evidence has no next try: its record is where it came from.
        case .held: break
        }
    }

    func finding(drained: Bool) -> Finding { tally.finding(on: .nothingParkedIsForgotten, drained: drained) }
}
