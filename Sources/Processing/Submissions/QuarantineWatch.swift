import Contract
import Scheduling

/// Counts quarantined records by reason, and tells of them: of the first one at once, of further ones every ten minutes.
/// A producer's mistake quarantines all that it sends, and nobody else hears of it.
struct QuarantineWatch {
    private struct Entry {
        var untold = 0
        /// The first record that nobody was told of.
        var example: Origin?
        var toldAt: Instant?
    }

    /// Records since the start, by reason. One that is read again counts again.
    private(set) var totals: [QuarantineReason.Kind: Int] = [:]
    private var entries: [QuarantineReason.Kind: Entry] = [:]
    private var hasUntold = false

    mutating func found(_ kind: QuarantineReason.Kind, at origin: Origin) {
        totals[kind, default: 0] += 1
        hasUntold = true
        entries[kind, default: Entry()].untold += 1
        if entries[kind]?.example == nil { entries[kind]?.example = origin }
    }

    /// Tells of reasons that it is time for.
    mutating func tell(_ turn: inout Turn) {
        guard hasUntold else { return }
        hasUntold = false
        for kind in QuarantineReason.Kind.allCases {
            guard var entry = entries[kind], entry.untold > 0, let example = entry.example else { continue }
            guard entry.toldAt.map({ turn.now - $0 >= Reminder.pause }) ?? true else {
                hasUntold = true
                continue
            }
            turn.alert(.quarantined(kind, records: entry.untold, example: example))
            entry = Entry(toldAt: turn.now)
            entries[kind] = entry
        }
    }
}
