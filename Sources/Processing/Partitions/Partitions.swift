import Contract
import Ledger
import Scheduling

/// Records of one batch, once they are registered: what their submissions must know of their partition.
struct RecordSource {
    let place: Int
    let assignment: AssignmentID
    let ownership: PartitionOwnership
    /// In the tracker; the numbers of a batch follow each other.
    let firstNumber: UInt64
    /// Up to here records may be redeliveries.
    let highestOrigin: Int64?
    /// The offset of the poison record.
    let poison: Int64?
    let isOneByOne: Bool

    func source(of index: Int) -> FlightSource {
        .record(place: place, assignment, number: firstNumber + UInt64(index), ownership)
    }

    func mayBeKnown(_ offset: Int64) -> Bool { offset <= highestOrigin ?? -1 }
}

/// The machine of partitions: assigned, taken over, read, their offsets noted, lost.
///
/// It says what it wants by actions, calls to the ledger and signals of ``Turn``.
struct Partitions: ~Copyable {
    private static let fetchPause: Duration = .seconds(1)
    private static let lostPause: Duration = .seconds(5)
    private static let noteInterval: Duration = .seconds(1)

    /// The worker, as others see it in the ledger.
    private let owner: String
    /// Most records in flight. A waiting record may have many times as many behind it.
    private let recordsAtOnce: Int
    var table = OwnedPartitions()
    /// The offsets that the ledger noted for the partitions of this worker. A smaller offset shows that the ledger was set
    /// back. Of a partition that another worker had meanwhile it shows nothing: that one may have read from the group's
    /// offset, which follows the ledger's, and noted from there.
    private var lastNoted: [TopicPartition: Int64] = [:]
    private var fetchAt: Instant?
    private var noteAt: Instant?

    init(owner: String, recordsAtOnce: Int) {
        self.owner = owner
        self.recordsAtOnce = recordsAtOnce
    }

    /// When time alone changes something; nil while it does not.
    func nextMoment(_ turn: borrowing Turn) -> Instant? {
        var moments = table.indices.flatMap { place in
            let entry = table[place]
            let moment: Instant? = if case .pausing(let until) = entry.state { until } else { entry.poison.calmAt }
            return [moment, entry.damage?.nextLook(at: turn.now)]
        }
        moments.append(fetchAt)
        if mayNote(turn) { moments.append(noteAt) }
        return moments.compactMap(\.self).min()
    }

    /// One incomplete record keeps all later records in its tracker.
    var isSpanFull: Bool { table.indices.contains { table[$0].tracker.span > 32 * recordsAtOnce } }

    /// The one place where the state of a partition changes.
    private mutating func move(_ place: Int, to state: PartitionState, _ turn: inout Turn) {
        turn.transitions.take(from: table[place].state, to: state)
        table[place].state = state
    }

    // MARK: The group

    mutating func assigned(_ list: [TopicPartition], _ turn: inout Turn) {
        for partition in list {
            guard let place = table.add(partition) else { continue }
            move(place, to: .fetching, &turn)
            turn.actions.fetchCommitted.append(partition)
        }
    }

    mutating func revoked(_ list: [TopicPartition], _ turn: inout Turn) {
        for partition in list {
            guard let place = table.place(of: partition) else { continue }
            turn.signal(.assignmentEnded(table[place].assignment))
            move(place, to: .vacant, &turn)
            table.remove(at: place)
            lastNoted[partition] = nil
        }
        forgetLostTakeOvers(&turn)
    }

    /// A take-over that is to be sent again would take a partition back that is another's by now. The others of its
    /// call are taken over in a new one.
    mutating func forgetLostTakeOvers(_ turn: inout Turn) {
        let isLost = { [table] (place: Int, assignment: AssignmentID) in !table.isCurrent(assignment, at: place) }
        for taken in turn.ledgerCalls.forgetUnsentTakeOvers(where: { $0.contains { isLost($0.place, $0.1) } }) {
            for (place, assignment) in taken where !isLost(place, assignment) {
                move(place, to: .taking(isUnderWay: false), &turn)
            }
        }
    }

    mutating func committed(_ offsets: [CommittedOffset]?, _ turn: inout Turn) {
        guard let offsets else {
            if fetchAt == nil { fetchAt = turn.now + Self.fetchPause }
            return
        }
        let isTopicCommitted = offsets.contains { $0.offset != nil }
        for committed in offsets {
            guard let place = table.place(of: committed.partition), table[place].state == .fetching else { continue }
            table[place].committed = committed.offset
            table[place].isTopicCommitted = isTopicCommitted
            move(place, to: .taking(isUnderWay: false), &turn)
        }
    }

    // MARK: Time

    /// - Parameter demandedSince: since when records are asked for without a pause; nil while none are.
    mutating func advance(demandedSince: Instant?, _ turn: inout Turn) {
        let now = turn.now
        let isFetchDue = fetchAt.map { $0 <= now } ?? false
        if isFetchDue { fetchAt = nil }
        for place in table.indices {
            switch table[place].state {
            case .fetching where isFetchDue: break
            case .pausing(let until) where until <= now: move(place, to: .fetching, &turn)
            case .owned:
                if let moment = table[place].poison.calmAt, moment <= now {
                    becomeCalm(place, demandedSince: demandedSince ?? now, at: now)
                }
                if let damage = table[place].damage, damage.isOver(at: now, table[place].tracker) {
                    lose(place, .fetching, &turn)
                }
                continue
            case .vacant, .fetching, .pausing, .taking: continue
            }
            turn.actions.fetchCommitted.append(table[place].partition)
        }
    }

    private mutating func becomeCalm(_ place: Int, demandedSince: Instant, at now: Instant) {
        let hasRecords = table[place].tracker.last != nil
        if table[place].poison.becomeCalm(hasRecords: hasRecords, demandedSince: demandedSince, at: now) {
            noteAt = min(noteAt ?? now, now)
        }
    }

    // MARK: Take-over

    /// Takes over all waiting partitions in one call, under generations that were never used.
    mutating func takeOver(_ turn: inout Turn) {
        guard !turn.ledgerCalls.isUnderWay(.takeOver) else { return }
        var requests: [TakeOver] = []
        var taken: [(place: Int, AssignmentID)] = []
        for place in table.indices {
            guard table[place].state == .taking(isUnderWay: false) else { continue }
            let generation = Generation(rawValue: Int64.random(in: 1...(.max), using: &turn.generator))
            table[place].generation = generation
            move(place, to: .taking(isUnderWay: true), &turn)
            let entry = table[place]
            requests.append(
                TakeOver(
                    ownership: entry.ownership, owner: owner, committed: entry.committed,
                    isTopicCommitted: entry.isTopicCommitted))
            taken.append((place, entry.assignment))
        }
        guard !requests.isEmpty else { return }
        turn.call(.takeOver(requests), for: .takeOver(taken))
    }

    mutating func takenOver(
        _ taken: [(place: Int, AssignmentID)], _ results: [TakeOverResult], _ turn: inout Turn
    ) {
        for ((place, assignment), result) in zip(taken, results) {
            guard table.isCurrent(assignment, at: place) else { continue }
            let entry = table[place]
            switch result {
            case .forgotten(let ledger): return turn.signal(.mustStop(.forgotten(ledger: ledger)))
            case .taken(let start):
                noticeSetBack(entry, start.next, &turn)
                own(place, start, &turn)
                let first = start.passed ?? Self.start(next: start.next, committed: entry.committed)
                turn.actions.assign.append(
                    Assignment(
                        id: assignment, partition: entry.partition, start: entry.readsOldest ? nil : first))
            }
        }
    }

    /// Reading starts at the smaller of the ledger's offset and the group's; none counts as the oldest record. A ledger
    /// that has none although the group has was set back to a time before its first one.
    static func start(next: Int64?, committed: Int64?) -> Int64? {
        guard let next, let committed else { return nil }
        return min(next, committed)
    }

    private mutating func own(_ place: Int, _ start: PartitionStart, _ turn: inout Turn) {
        move(place, to: .owned, &turn)
        table[place].highestOrigin = start.highestOrigin
        // If the group has another offset, the ledger's offset is committed even if it does not change.
        let isKnown = start.next == table[place].committed
        table[place].noted = isKnown ? start.next : nil
        if let survivor = table[place].poison.begin(start, recordsAtOnce: recordsAtOnce, at: turn.now) {
            mark(place, ended: survivor, begins: nil, &turn)
        }
        if table[place].readsOldest { noteAt = turn.now }
        turn.signal(.rowsDue)
        turn.signal(.outboxDue(turn.now))
    }

    /// An offset below this worker's last note, or below the group's, shows that the ledger was set back: the group's
    /// follow the ledger's. Reading again heals it.
    private mutating func noticeSetBack(_ entry: OwnedPartition, _ next: Int64?, _ turn: inout Turn) {
        let noted = max(lastNoted[entry.partition] ?? .min, entry.committed ?? .min)
        guard (next ?? .min) < noted else { return }
        turn.alert(.ledgerSetBack(entry.partition, noted: noted, found: next))
        lastNoted[entry.partition] = next
    }

    // MARK: Records

    /// Registers the records of a batch.
    /// - Returns: nil if they are not this worker's. Nil also if an offset does not rise: the topic was made anew, or
    ///   lost its end, and everything in flight belongs to the old one.
    mutating func register(_ batch: RecordBatch, _ turn: inout Turn) -> RecordSource? {
        guard let place = table.place(of: batch.assignment), table[place].state == .owned,
            let first = batch.records.first
        else { return nil }
        let isFirst = table[place].tracker.last == nil
        if isFirst { table[place].poison.beginReading(at: first.origin.offset) }
        var firstNumber: UInt64?
        for record in batch.records {
            guard let number = table[place].tracker.register(record.origin.offset) else {
                wentBack(place, &turn)
                return nil
            }
            firstNumber = firstNumber ?? number
        }
        // A first record behind the noted offset is noted: the topic may be a new one.
        if isFirst { scheduleNote(at: turn.now) }
        let entry = table[place]
        return RecordSource(
            place: place, assignment: entry.assignment, ownership: entry.ownership, firstNumber: firstNumber ?? 0,
            highestOrigin: entry.highestOrigin, poison: entry.poison.offset, isOneByOne: entry.poison.isOneByOne)
    }

    /// A record is complete: its offset may be passed.
    mutating func complete(_ place: Int, _ assignment: AssignmentID, number: UInt64, at now: Instant) {
        guard table.isCurrent(assignment, at: place), table[place].tracker.complete(number) else { return }
        scheduleNote(at: now)
    }

    /// The offsets of the ledger and the group belong to records that are gone. A start there would skip the records at
    /// lower offsets. So the whole topic is read, and both offsets are set to its beginning before that.
    mutating func wentBack(_ place: Int, _ turn: inout Turn) {
        lose(place, .fetching, &turn)
        table[place].readsOldest = true
    }

    /// A record comes damaged, and nothing behind it is read any more. Records before it go on, or an operator could
    /// never pass it. Then the partition is taken over anew and read from there.
    mutating func damaged(_ place: Int, at now: Instant) {
        guard table[place].state == .owned, table[place].damage == nil else { return }
        table[place].damage = DamagedEnd(since: now)
    }

    /// The ledger is to count the end of one check, and to mark the record whose check begins.
    func mark(_ place: Int, ended: Int64?, begins: PoisonWatch.Suspect?, _ turn: inout Turn) {
        let mark = CheckMark(ownership: table[place].ownership, ended: ended, begins: begins?.offset)
        let purpose = begins.map { LedgerCalls.Purpose.mark($0.token) }
        turn.call(.mark([mark]), for: purpose ?? .unmark(place: place, table[place].assignment))
    }

    // MARK: Losses

    /// A partition's ownership or assignment has ended. It is taken over anew, at once or after a pause.
    private mutating func lose(_ place: Int, _ state: PartitionState, _ turn: inout Turn) {
        let entry = table[place]
        if entry.state == .owned { turn.actions.unassign.append(entry.partition) }
        turn.signal(.assignmentEnded(entry.assignment))
        move(place, to: state, &turn)
        table.restart(at: place)
        if state == .fetching { turn.actions.fetchCommitted.append(entry.partition) }
    }

    /// Another worker writes for the partition. The group says so soon, or it is taken over anew after a while, and
    /// read from the first record that is not complete.
    mutating func loseToAnother(_ place: Int, _ turn: inout Turn) {
        guard table[place].state == .owned else { return }
        turn.alert(.ownershipLost(table[place].partition))
        lastNoted[table[place].partition] = nil
        lose(place, .pausing(until: turn.now + Self.lostPause), &turn)
    }

    /// A new connection to the ledger needs a new take-over of everything, because the last writes may be lost. Calls
    /// under the old ownership are dropped, because the ledger may have forgotten a newer one.
    mutating func loseConnection(_ turn: inout Turn) {
        turn.ledgerCalls.forgetOwner()
        for place in table.indices where table[place].state == .owned { lose(place, .fetching, &turn) }
    }

    // MARK: Notes

    private func mayNote(_ turn: borrowing Turn) -> Bool { !turn.ledgerCalls.isUnderWay(.note) }

    private mutating func scheduleNote(at now: Instant) {
        if noteAt == nil { noteAt = now + Self.noteInterval }
    }

    /// Notes, if it is time.
    mutating func noteIfDue(_ turn: inout Turn) {
        if let moment = noteAt, moment <= turn.now { note(&turn) }
    }

    /// Notes how far each partition is complete, where that has changed.
    mutating func note(_ turn: inout Turn) {
        guard mayNote(turn) else { return }
        noteAt = nil
        var notes: [OffsetNote] = []
        var noted: [(place: Int, AssignmentID)] = []
        for place in table.indices where table[place].state == .owned {
            let entry = table[place]
            let watermark = entry.tracker.watermark ?? (entry.readsOldest ? 0 : nil)
            guard watermark != nil ? watermark != entry.noted : entry.poison.isCalm else { continue }
            notes.append(OffsetNote(ownership: entry.ownership, next: watermark))
            noted.append((place, entry.assignment))
            table[place].poison.isCalm = false
            // Set already, so that what completes meanwhile is seen as a change.
            if watermark != nil { table[place].noted = watermark }
        }
        guard !notes.isEmpty else { return }
        turn.call(.note(notes), for: .note(noted))
    }

    /// Kafka's offsets follow the ledger's.
    mutating func noted(_ noted: [(place: Int, AssignmentID)], _ stillOwned: [Bool], _ turn: inout Turn) {
        for ((place, assignment), isOwned) in zip(noted, stillOwned) {
            guard table.isCurrent(assignment, at: place) else { continue }
            let entry = table[place]
            guard isOwned else {
                loseToAnother(place, &turn)
                continue
            }
            guard entry.noted != nil else { continue }
            lastNoted[entry.partition] = entry.noted
            table[place].readsOldest = false
            turn.actions.commit.append(CommittedOffset(partition: entry.partition, offset: entry.noted))
        }
    }
}
