import Contract
import Scheduling

/// Counts quarantined records by reason, and tells of them: of the first one at once, of further ones every ten
/// minutes, and of the rest at the end. A producer's mistake quarantines all that it sends, and nobody else hears of
/// it.
struct QuarantineWatch {
    private struct Entry {
        var untold = 0
        /// The first record that nobody was told of.
        var example: Origin?
        var toldAt: Instant?

        /// When it may be told again; nil if it never was.
        var due: Instant? { toldAt.map { $0 + Reminder.pause } }
    }

    /// Records since the start, by reason. One that is read again counts again.
    private(set) var totals: [QuarantineReason.Kind: Int] = [:]
    private var entries: [QuarantineReason.Kind: Entry] = [:]
    /// When a reason is to be told next; nil if nothing is untold.
    private(set) var nextMoment: Instant?

    mutating func found(_ kind: QuarantineReason.Kind, at origin: Origin, _ now: Instant) {
        totals[kind, default: 0] += 1
        var entry = entries[kind] ?? Entry()
        entry.untold += 1
        entry.example = entry.example ?? origin
        entries[kind] = entry
        nextMoment.bringForward(to: entry.due ?? now)
    }

    /// Tells of reasons that it is time for.
    mutating func tell(_ turn: inout Turn) {
        guard let nextMoment, nextMoment <= turn.now else { return }
        tell(&turn) { entry, now in entry.due.map { $0 <= now } ?? true }
    }

    /// Tells of all that is untold: the worker ends.
    mutating func tellAll(_ turn: inout Turn) { tell(&turn) { _, _ in true } }

    private mutating func tell(_ turn: inout Turn, where isDue: (Entry, Instant) -> Bool) {
        nextMoment = nil
        for kind in QuarantineReason.Kind.allCases {
            guard let entry = entries[kind], entry.untold > 0, let example = entry.example else { continue }
            guard isDue(entry, turn.now) else {
                nextMoment.bringForward(to: entry.due)
                continue
            }
            turn.alert(.quarantined(kind, records: entry.untold, example: example))
            entries[kind] = Entry(toldAt: turn.now)
        }
    }
}
