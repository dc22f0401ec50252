import Scheduling

/// Counts occurrences by kind, and says when they are to be logged. The log has the first of a kind at once, further
/// ones every ten minutes, and the rest at the end. They are faults that happen again and again, and that nothing else
/// reports.
struct Occurrences<Kind: Hashable, Example> {
    private struct Entry {
        var untold = 0
        /// The first one that is not logged yet.
        var example: Example?
        var toldAt: Instant?

        /// When it may be logged again; nil if it never was.
        var due: Instant? { toldAt.map { $0 + Reminder.pause } }
    }

    /// Kinds that are counted at a time. Further ones are not, because senders may be able to make kinds up. Kinds that
    /// did not come lately give way.
    private let mostKinds: Int
    /// In the order in which they came first.
    private var kinds: [Kind] = []
    private var entries: [Kind: Entry] = [:]
    /// When a kind is to be logged next; nil if nothing is left.
    private(set) var nextMoment: Instant?
    /// When kinds may give way again: to look for them costs something.
    private var roomAt = Instant(nanoseconds: .min)

    init(mostKinds: Int) { self.mostKinds = mostKinds }

    mutating func found(_ kind: Kind, _ example: Example, _ now: Instant) {
        var entry = entries[kind] ?? Entry()
        if entries[kind] == nil {
            guard kinds.count < mostKinds || makeRoom(now) else { return }
            kinds.append(kind)
        }
        entry.untold += 1
        entry.example = entry.example ?? example
        entries[kind] = entry
        nextMoment.bringForward(to: entry.due ?? now)
    }

    /// Forgets the kinds that were logged, and could be logged again by now. Whether there is room.
    private mutating func makeRoom(_ now: Instant) -> Bool {
        guard roomAt <= now else { return false }
        roomAt = now + Reminder.pause
        kinds.removeAll { kind in
            guard let entry = entries[kind], entry.untold == 0, entry.due.map({ $0 <= now }) ?? true else {
                return false
            }
            entries[kind] = nil
            return true
        }
        return kinds.count < mostKinds
    }

    /// The news that it is time for: each kind, how many, and the first of them.
    /// - Parameter all: Whether it is time for all of them.
    mutating func take(at now: Instant, all: Bool) -> [(kind: Kind, count: Int, example: Example)] {
        guard all || nextMoment.map({ $0 <= now }) ?? false else { return [] }
        nextMoment = nil
        return kinds.compactMap { kind in
            guard let entry = entries[kind], entry.untold > 0, let example = entry.example else { return nil }
            guard all || entry.due.map({ $0 <= now }) ?? true else {
                nextMoment.bringForward(to: entry.due)
                return nil
            }
            entries[kind] = Entry(toldAt: now)
            return (kind, entry.untold, example)
        }
    }
}
