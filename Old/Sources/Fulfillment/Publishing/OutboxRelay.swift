import Ledger
import Purchases

/// Decides what of the outbox is published next, for as long as this worker has the relay.
///
/// The outbox is a log, so a position says what is published. An event that the broker refuses does not stop the log: it is
/// withheld, with later ones of its key, and offered again now and then. What settlement hands over is used if it continues the
/// position without a gap; anything else is read from the ledger.
struct OutboxRelay: Sendable {
    enum Step: Hashable, Sendable {
        /// Publish these, then tell ``offered(_:acknowledged:)``.
        case offer([OutboxEntry])
        /// Read the ledger from here, then tell ``read(_:)``.
        case read(after: Int64)
        /// Everything is published that may be.
        case rest
        /// The broker took nothing, so many times in a row: offer again after a while.
        case pause(failures: Int)
    }

    /// Most entries offered at once.
    static let maxBatch = 500
    /// Failures in a row after which entries are offered one by one, so that a refused one is told from a broker that is away.
    static let failuresBeforeSingles = 5
    /// Most sweeps between two offers of what is withheld.
    static let maxWithheldWait = 128

    private var position: Int64
    private var withheld: [OutboxEntry]
    /// Keys of the withheld; records without a key have no order to keep.
    private var blocked: Set<[UInt8]>
    private var waiting: [OutboxEntry] = []
    /// Entries before this index were offered.
    private var start = 0
    private var mustRead = true
    /// The last read found something, and nothing was handed over since that continues it to ``announced``: there may be more.
    private var mayBeMore = false
    /// The highest entry that was handed over, whether it could be used or not. None is high enough once something was added
    /// that is not handed over, until the ledger was read to its end.
    private var announced: Int64 = 0
    private var isFinishing = false
    private var retryWithheld: Bool
    /// Sweeps until the withheld are offered again: each time that helps none of them doubles the wait.
    private var withheldWait = 1
    private var sweepsLeft = 1
    private var failures = 0
    private var mustPause = false
    private var note: RelayNote
    private var noted: Int64

    /// A relay that goes on where the ledger says.
    init(_ turn: RelayTurn) {
        position = turn.publishedThrough
        noted = position
        withheld = turn.withheld
        blocked = Set(turn.withheld.compactMap(\.event.key))
        retryWithheld = !turn.withheld.isEmpty
        note = RelayNote(through: position)
    }

    /// How many entries are withheld.
    var withheldCount: Int { withheld.count }

    /// Entries offered since the ledger was told last; 0 if it knows all.
    var untold: Int { Int(position - noted) + note.release.count }

    /// Says what the ledger knows already: keeps the relay, whatever becomes of an offer that is under way.
    var renewal: RelayNote { RelayNote(through: noted) }

    /// What the ledger is to be told, and is taken to know from now on.
    mutating func takeNote() -> RelayNote {
        noted = position
        defer { note = RelayNote(through: position) }
        note.through = position
        return note
    }

    /// Settlement added these; nil if something that must be read.
    mutating func added(_ entries: [OutboxEntry]?) {
        guard let entries else {
            mustRead = true
            announced = .max
            return
        }
        let known = last
        announced = entries.reduce(announced) { max($0, $1.sequence) }
        // Some may have been read meanwhile.
        let new = entries.drop { $0.sequence <= known }
        guard !new.isEmpty else { return }
        // Each of them: several settlements come together, and another worker's may lie between them.
        let isGapless = zip(new, (known + 1)...).allSatisfy { $0.sequence == $1 }
        guard isGapless, waiting.count - start + new.count <= Handover.maxEntries else { return mustRead = true }
        dropOffered()
        waiting.append(contentsOf: new)
        // Else, while submissions settle all the time, reading would never come to an end, and all would be read that is handed over.
        if last == announced { mayBeMore = false }
    }

    /// Nothing is handed over any more. What was added and not handed over, or not in its order, no sweep will find: the ledger is
    /// read to its end before the relay rests.
    mutating func finish() {
        if !isFinishing { mustRead = true }
        isFinishing = true
    }

    /// Somebody else may have added something, and what is withheld may pass by now.
    mutating func sweep() {
        mustRead = true
        guard !withheld.isEmpty else { return }
        sweepsLeft -= 1
        retryWithheld = retryWithheld || sweepsLeft <= 0
    }

    /// The ledger was read.
    mutating func read(_ entries: [OutboxEntry]) {
        waiting = entries
        start = 0
        mustRead = false
        mayBeMore = !entries.isEmpty
        if entries.isEmpty { announced = position }
    }

    /// What to do now.
    mutating func next() -> Step {
        if mustPause {
            mustPause = false
            return .pause(failures: failures)
        }
        if retryWithheld {
            retryWithheld = false
            return .offer(firstOfEachKey)
        }
        guard withheld.count < RelayTurn.maxWithheld else { return .rest }
        passBlocked()
        if start < waiting.count {
            // No more than may be withheld: the broker can refuse all but one.
            let size = failures >= Self.failuresBeforeSingles ? 1 : Self.maxBatch
            return .offer(batch(atMost: min(size, RelayTurn.maxWithheld - withheld.count)))
        }
        return mustRead || mayBeMore ? .read(after: position) : .rest
    }

    /// Entries were offered to the broker.
    mutating func offered(_ entries: [OutboxEntry], acknowledged: [Bool]) {
        guard let first = entries.first else { return }
        if first.sequence <= position { return offeredAgain(entries, acknowledged) }
        let isAnyAcknowledged = acknowledged.contains(true)
        guard isAnyAcknowledged || failures > Self.failuresBeforeSingles && entries.count == 1 else {
            failures += 1
            mustPause = true
            return
        }
        if isAnyAcknowledged { failures = 0 } else { mustPause = true }
        for (entry, isAcknowledged) in zip(entries, acknowledged) where !isAcknowledged { withhold(entry) }
        start += entries.count
        position = entries.last?.sequence ?? position
    }

    private mutating func offeredAgain(_ entries: [OutboxEntry], _ acknowledged: [Bool]) {
        let released = Set(zip(entries, acknowledged).filter(\.1).map(\.0.sequence))
        withheldWait = released.isEmpty ? min(withheldWait * 2, Self.maxWithheldWait) : 1
        sweepsLeft = withheldWait
        guard !released.isEmpty else { return }
        withheld.removeAll { released.contains($0.sequence) }
        blocked = Set(withheld.compactMap(\.event.key))
        note.release += released.sorted().filter { sequence in
            // One that was withheld since the last note is one that the ledger never heard of.
            guard let index = note.withhold.firstIndex(of: sequence) else { return true }
            note.withhold.remove(at: index)
            return false
        }
        retryWithheld = !withheld.isEmpty
    }

    /// The last entry that is known of.
    private var last: Int64 { start < waiting.count ? waiting[waiting.count - 1].sequence : position }

    private var firstOfEachKey: [OutboxEntry] {
        var seen: Set<[UInt8]> = []
        return withheld.filter { entry in
            guard let key = entry.event.key else { return true }
            return seen.insert(key).inserted
        }
    }

    /// Withholds what stands next and waits behind a withheld entry of its key.
    private mutating func passBlocked() {
        guard !blocked.isEmpty else { return }
        while start < waiting.count, isBlocked(waiting[start]), withheld.count < RelayTurn.maxWithheld {
            position = waiting[start].sequence
            withhold(waiting[start])
            start += 1
        }
    }

    /// The next entries, up to one that is blocked.
    private func batch(atMost limit: Int) -> [OutboxEntry] {
        let end = min(waiting.count, start + limit)
        guard !blocked.isEmpty else { return Array(waiting[start..<end]) }
        return Array(waiting[start..<end].prefix { !isBlocked($0) })
    }

    private func isBlocked(_ entry: OutboxEntry) -> Bool {
        entry.event.key.map { blocked.contains($0) } ?? false
    }

    private mutating func withhold(_ entry: OutboxEntry) {
        withheld.append(entry)
        note.withhold.append(entry.sequence)
        if let key = entry.event.key { blocked.insert(key) }
    }

    private mutating func dropOffered() {
        guard start > 0 else { return }
        waiting.removeFirst(start)
        start = 0
    }
}
