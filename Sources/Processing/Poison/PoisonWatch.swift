import Contract
import Ledger
import Scheduling

/// Looks for a poison record in one partition: a record whose check ends the worker that makes it.
///
/// A partition that starts again and again at one offset may hold one. Its first records are then checked one by one,
/// each behind a mark in the ledger. A record whose mark many starts in a row have found is the poison record, and is
/// quarantined unread. Calls and checks are the core's; this says which record is marked next.
struct PoisonWatch: Sendable {
    /// A record that is marked, or waits for its mark.
    struct Suspect: Sendable {
        let token: SubmissionToken
        let offset: Int64
    }

    enum Step {
        /// Nothing changes before a check or a call has ended.
        case wait
        /// No suspect is left: the records that wait are checked as they came.
        case release
        /// The ledger is to count the end of one check, and to mark the record whose check begins.
        case mark(ended: Int64?, begins: Suspect?)
    }

    /// Records that are checked one by one.
    private enum Span: Sendable {
        case none
        /// So many of the first offsets; the first record is not here yet.
        case first(Int64)
        case before(Int64)
    }

    /// A record whose check had begun at so many starts in a row is quarantined. Workers end for other reasons, too.
    static let endsOfPoison = 5
    /// A partition without a record for this time has nothing that could end workers.
    private static let calmPause: Duration = .seconds(30)
    /// From so many starts at one offset on, records are checked one by one.
    private static let startsOfSuspicion = 3
    /// Most doublings of the number of records that are checked one by one. A tracker's span has a bound as far.
    private static let mostDoublings = 5

    /// The offset of the poison record.
    private(set) var offset: Int64?
    private var span = Span.none
    /// Records that wait for the one before them.
    private var waiting = FIFO<SubmissionToken>()
    /// Records that were marked before, and need another check.
    private var again = FIFO<Suspect>()
    private(set) var marked: Suspect?
    /// The last record that was marked and has ended no worker so far. The ledger may not know, and count a lost
    /// connection as the end of one.
    private var survivor: Int64?
    /// Starts at the checkpoint. Of this worker's starts only the first counts, because it lives. Nil before that.
    private var starts: Int?
    /// The last mark is being taken away.
    private var isUnmarking = false
    /// When the partition is calm, if no record has come by then.
    private(set) var calmAt: Instant?
    /// The ledger must still note that it is calm.
    var isCalm = false

    /// The watch over the same partition under its next ownership, after a lost connection or another worker's. This
    /// worker lives, so its own take-overs make no partition suspect. If the check ends workers, it does so under a
    /// mark that is written anew.
    var next: PoisonWatch {
        var next = PoisonWatch()
        next.survivor = marked?.offset ?? survivor
        next.starts = starts
        return next
    }

    /// Whether records are checked one by one.
    var isOneByOne: Bool { if case .before = span { true } else { false } }

    /// Whether a record is marked, or waits for its mark.
    var isActive: Bool { isOneByOne || marked != nil || !again.isEmpty }

    /// Whether the ledger has a mark of this partition's, or may have.
    var isMarked: Bool { marked != nil || isUnmarking }

    // MARK: Events

    /// The partition is owned.
    /// - Parameter recordsAtOnce: most records in flight. A waiting record may have many times as many behind it.
    /// - Returns: the offset of a survivor, whose mark is to be taken away.
    mutating func begin(_ start: PartitionStart, recordsAtOnce: Int, at now: Instant) -> Int64? {
        let starts = min(start.starts, self.starts ?? .max)
        self.starts = starts
        let doublings = starts - Self.startsOfSuspicion
        span = doublings < 0 ? .none : .first(Int64(recordsAtOnce) << min(doublings, Self.mostDoublings))
        calmAt = now + Self.calmPause
        guard let suspect = start.suspect else { return nil }
        if suspect.offset == survivor {
            isUnmarking = true
            return suspect.offset
        }
        if suspect.ends >= Self.endsOfPoison { offset = suspect.offset }
        return nil
    }

    /// The first record is here.
    mutating func beginReading(at offset: Int64) {
        if case .first(let count) = span { span = .before(offset + count) }
    }

    /// A record waits for the one before it.
    mutating func enqueue(_ token: SubmissionToken) { waiting.append(token) }

    /// A record that was marked before needs another check.
    mutating func checkAgain(_ suspect: Suspect) { again.append(suspect) }

    mutating func unmarked() { isUnmarking = false }

    /// Each take-over counts as a start, so rebalances alone would make an idle partition suspect. Where nothing was
    /// demanded, nothing could come, so the pause begins anew. Full `retries` may last for hours, and count as a demand.
    /// - Parameter demandedSince: since when records are demanded, or full `retries` keep them away.
    /// - Returns: whether the ledger must note that the partition is calm.
    mutating func becomeCalm(hasRecords: Bool, demandedSince: Instant, at now: Instant) -> Bool {
        calmAt = nil
        guard !hasRecords else { return false }
        let moment = demandedSince + Self.calmPause
        guard moment <= now else {
            calmAt = moment
            return false
        }
        // After a partition lost its end, another record may come to stand where the suspect stood.
        (span, offset) = (.none, nil)
        isCalm = true
        return true
    }

    // MARK: Next steps

    /// The next step, if the check of the marked record has ended.
    /// - Parameters:
    ///   - mayBegin: no other check runs that may be what ends workers.
    ///   - mayComeBack: whether a record that was checked may need another check.
    mutating func advance(mayBegin: Bool, in flights: Flights, mayComeBack: (SubmissionToken) -> Bool) -> Step {
        if isUnmarking { return .wait }
        let last = marked
        // It is read again if the worker ends before its topic has it, so its count stays until the offset passes it.
        let isPoison = last != nil && last?.offset == offset
        if let last {
            if flights.isInCheck(last.token) { return .wait }
            if !isPoison { survivor = last.offset }
        }
        let next = mayBegin ? nextSuspect(in: flights) : nil
        guard last != nil || next != nil else { return mayBegin && waiting.first != nil ? .release : .wait }
        marked = next
        isUnmarking = next == nil
        return .mark(ended: last.flatMap { isPoison || mayComeBack($0.token) ? nil : $0.offset }, begins: next)
    }

    /// A record that needs another check, or the next of the records that are checked one by one.
    private mutating func nextSuspect(in flights: Flights) -> Suspect? {
        while let next = again.popFirst() {
            if flights.isAwaitingMark(next.token) { return next }
        }
        guard case .before(let end) = span else { return nil }
        while let token = waiting.first {
            guard flights.isAwaitingMark(token), let offset = flights[token].record?.origin.offset else {
                _ = waiting.popFirst()
                continue
            }
            if offset >= end { return nil }
            _ = waiting.popFirst()
            return Suspect(token: token, offset: offset)
        }
        return nil
    }

    /// Records are not checked one by one any more.
    /// - Returns: the ones that wait, in order.
    mutating func release(in flights: Flights) -> [SubmissionToken] {
        span = .none
        var released: [SubmissionToken] = []
        while let token = waiting.popFirst() {
            if flights.isAwaitingMark(token), flights[token].record != nil { released.append(token) }
        }
        return released
    }
}
