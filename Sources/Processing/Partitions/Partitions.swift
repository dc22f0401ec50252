import Contract
import Ledger
import Scheduling

/// Records of one batch, once they are registered: what their submissions must know of their partition.
struct RecordSource {
    let index: Int
    let assignment: AssignmentID
    let ownership: PartitionOwnership
    /// In the tracker; the numbers of a batch follow each other.
    let firstNumber: UInt64
    /// Up to here records may be redeliveries.
    let highestOrigin: Int64?
    /// The offset of the poison record.
    let poison: Int64?
    let isOneByOne: Bool

    func source(of record: Int) -> FlightSource {
        .record(index: index, assignment, number: firstNumber + UInt64(record), ownership)
    }

    func mayBeKnown(_ offset: Int64) -> Bool { offset <= highestOrigin ?? -1 }
}

/// The machine of partitions: assigned, taken over, read, checkpointed, lost.
///
/// Its output is actions, calls to the ledger and signals of ``Turn``.
struct Partitions: ~Copyable {
    private static let fetchPause: Duration = .seconds(1)
    private static let lostPause: Duration = .seconds(5)
    private static let checkpointInterval: Duration = .seconds(1)

    /// The worker, as others see it in the ledger.
    private let owner: String
    /// Most records in flight. A waiting record may have many times as many behind it.
    private let recordsAtOnce: Int
    var table = OwnedPartitions()
    /// The checkpoints of the partitions of this worker. A smaller offset shows that the ledger was set back. It shows
    /// nothing if another worker had the partition meanwhile. That worker may have read from the group's offset, which
    /// follows the ledger's, and written its checkpoints from there.
    private var lastCheckpoints: [TopicPartition: Int64] = [:]
    private var fetchAt: Instant?
    private var checkpointAt: Instant?

    init(owner: String, recordsAtOnce: Int) {
        self.owner = owner
        self.recordsAtOnce = recordsAtOnce
    }

    /// When time alone changes something; nil while it does not.
    func nextMoment(_ turn: borrowing Turn) -> Instant? {
        var earliest = fetchAt
        if mayCheckpoint(turn) { earliest.bringForward(to: checkpointAt) }
        for index in table.indices {
            if case .pausing(let until) = table[index].state {
                earliest.bringForward(to: until)
            } else {
                earliest.bringForward(to: table[index].poison.calmAt)
            }
            earliest.bringForward(to: table[index].end?.nextLook(at: turn.now))
        }
        return earliest
    }

    /// One incomplete record keeps all later records in its tracker.
    var isSpanFull: Bool { table.indices.contains { table[$0].tracker.span > 32 * recordsAtOnce } }

    /// The only function in which the state of a partition changes.
    private mutating func move(_ index: Int, to state: PartitionState, _ turn: inout Turn) {
        turn.transitions.take(from: table[index].state, to: state)
        table[index].state = state
    }

    // MARK: The group

    mutating func assigned(_ list: [TopicPartition], _ turn: inout Turn) {
        for partition in list {
            guard let index = table.add(partition) else { continue }
            move(index, to: .fetching, &turn)
            turn.actions.fetchCommitted.append(partition)
        }
    }

    mutating func revoked(_ list: [TopicPartition], _ turn: inout Turn) {
        for partition in list {
            guard let index = table.index(of: partition) else { continue }
            turn.signal(.assignmentEnded(table[index].assignment))
            move(index, to: .vacant, &turn)
            table.remove(at: index)
            lastCheckpoints[partition] = nil
        }
        forgetLostTakeOvers(&turn)
    }

    /// A repeated take-over would take back a partition that is another worker's by now. The others of its call are
    /// taken over in a new one.
    mutating func forgetLostTakeOvers(_ turn: inout Turn) {
        let isLost = { [table] (index: Int, assignment: AssignmentID) in !table.isCurrent(assignment, at: index) }
        for taken in turn.ledgerCalls.forgetUnsentTakeOvers(where: { $0.contains { isLost($0.index, $0.1) } }) {
            for (index, assignment) in taken where !isLost(index, assignment) {
                move(index, to: .taking(isUnderWay: false), &turn)
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
            guard let index = table.index(of: committed.partition), table[index].state == .fetching else { continue }
            table[index].committed = committed.offset
            table[index].isTopicCommitted = isTopicCommitted
            move(index, to: .taking(isUnderWay: false), &turn)
        }
    }

    // MARK: Time

    /// - Parameter demandedSince: since when records are asked for, or full `retries` keep them away; nil while neither is
    ///   so.
    mutating func advance(demandedSince: Instant?, _ turn: inout Turn) {
        let now = turn.now
        let isFetchDue = fetchAt.map { $0 <= now } ?? false
        if isFetchDue { fetchAt = nil }
        for index in table.indices {
            switch table[index].state {
            case .fetching where isFetchDue: break
            case .pausing(let until) where until <= now: move(index, to: .fetching, &turn)
            case .owned:
                if let moment = table[index].poison.calmAt, moment <= now {
                    becomeCalm(index, demandedSince: demandedSince ?? now, at: now)
                }
                if let end = table[index].end, end.isOver(at: now, table[index].tracker) {
                    lose(index, .fetching, &turn)
                }
                continue
            case .vacant, .fetching, .pausing, .taking: continue
            }
            turn.actions.fetchCommitted.append(table[index].partition)
        }
    }

    private mutating func becomeCalm(_ index: Int, demandedSince: Instant, at now: Instant) {
        let hasRecords = table[index].tracker.last != nil
        if table[index].poison.becomeCalm(hasRecords: hasRecords, demandedSince: demandedSince, at: now) {
            checkpointAt.bringForward(to: now)
        }
    }

    // MARK: Take-over

    /// Takes over all waiting partitions in one call, under generations that were never used.
    mutating func takeOver(_ turn: inout Turn) {
        guard !turn.ledgerCalls.isUnderWay(.takeOver) else { return }
        var requests: [TakeOver] = []
        var taken: [(index: Int, AssignmentID)] = []
        for index in table.indices {
            guard table[index].state == .taking(isUnderWay: false) else { continue }
            let generation = Generation(rawValue: Int64.random(in: 1...(.max), using: &turn.generator))
            table[index].generation = generation
            move(index, to: .taking(isUnderWay: true), &turn)
            let entry = table[index]
            requests.append(
                TakeOver(
                    ownership: entry.ownership, owner: owner, committed: entry.committed,
                    isTopicCommitted: entry.isTopicCommitted))
            taken.append((index, entry.assignment))
        }
        guard !requests.isEmpty else { return }
        turn.call(.takeOver(requests), for: .takeOver(taken))
    }

    mutating func takenOver(
        _ taken: [(index: Int, AssignmentID)], _ results: [TakeOverResult], _ turn: inout Turn
    ) {
        for ((index, assignment), result) in zip(taken, results) {
            guard table.isCurrent(assignment, at: index) else { continue }
            let entry = table[index]
            switch result {
            case .forgotten(let ledger): return turn.signal(.mustStop(.forgotten(ledger: ledger)))
            case .taken(let start):
                noticeSetBack(entry, start.next, &turn)
                own(index, start, &turn)
                if let passed = start.passed, !entry.readsOldest {
                    follow(index, passed, &turn)
                    continue
                }
                // Offsets of before belong to records that are gone, where the topic went back.
                let (next, committed) = entry.readsOldest ? (nil, nil) : (start.next, entry.committed)
                let first = Self.start(next: next, committed: committed)
                turn.actions.assign.append(
                    Assignment(
                        id: assignment, partition: entry.partition, start: first,
                        expected: first == nil ? next ?? committed : nil))
            }
        }
    }

    /// Reading starts at the smaller of the ledger's offset and the group's; none counts as the oldest record. A ledger
    /// without an offset that the group has was set back to a time before its first one.
    static func start(next: Int64?, committed: Int64?) -> Int64? {
        guard let next, let committed else { return nil }
        return min(next, committed)
    }

    private mutating func own(_ index: Int, _ start: PartitionStart, _ turn: inout Turn) {
        move(index, to: .owned, &turn)
        table[index].highestOrigin = start.highestOrigin
        // If the group has another offset, the ledger's offset is committed even if it does not change.
        let isKnown = start.next == table[index].committed
        table[index].checkpoint = isKnown ? start.next : nil
        if let survivor = table[index].poison.begin(start, recordsAtOnce: recordsAtOnce, at: turn.now) {
            mark(index, ended: survivor, begins: nil, &turn)
        }
        if table[index].readsOldest { checkpointAt = turn.now }
        turn.signal(.rowsDue)
        turn.signal(.outboxDue(turn.now))
    }

    /// The group's offset is put behind what an operator passed. Only then is the partition taken over again and read.
    /// The ledger then forgets what was passed. It would otherwise hide every later reset of the group.
    private mutating func follow(_ index: Int, _ passed: Int64, _ turn: inout Turn) {
        turn.actions.commit.append(CommittedOffset(partition: table[index].partition, offset: passed))
        lose(index, .pausing(until: turn.now + Self.fetchPause), &turn)
    }

    /// An offset below this worker's last checkpoint, or below the group's, shows that the ledger was set back: the
    /// group's follow the ledger's. Reading again heals it.
    private mutating func noticeSetBack(_ entry: OwnedPartition, _ next: Int64?, _ turn: inout Turn) {
        let checkpoint = max(lastCheckpoints[entry.partition] ?? .min, entry.committed ?? .min)
        guard (next ?? .min) < checkpoint else { return }
        turn.alert(.ledgerSetBack(entry.partition, checkpoint: checkpoint, found: next))
        lastCheckpoints[entry.partition] = next
    }

    // MARK: Records

    /// Registers the records of a batch.
    /// - Returns: nil if they are not this worker's. Nil also if an offset does not rise: the topic was made anew, or
    ///   lost its end.
    mutating func register(_ batch: RecordBatch, _ turn: inout Turn) -> RecordSource? {
        guard let index = table.index(of: batch.assignment), table[index].state == .owned, table[index].end == nil,
            let first = batch.records.first
        else { return nil }
        guard table[index].tracker.rises(batch.records.lazy.map(\.origin.offset)) else {
            wentBack(index, &turn)
            return nil
        }
        let isFirst = table[index].tracker.last == nil
        if isFirst { table[index].poison.beginReading(at: first.origin.offset) }
        var firstNumber: UInt64?
        for record in batch.records {
            let number = table[index].tracker.register(record.origin.offset)
            firstNumber = firstNumber ?? number
        }
        // A first record behind the checkpoint moves it: the topic may be a new one.
        if isFirst { scheduleCheckpoint(at: turn.now) }
        let entry = table[index]
        return RecordSource(
            index: index, assignment: entry.assignment, ownership: entry.ownership, firstNumber: firstNumber ?? 0,
            highestOrigin: entry.highestOrigin, poison: entry.poison.offset, isOneByOne: entry.poison.isOneByOne)
    }

    /// A record is complete: its offset may be passed.
    mutating func complete(_ index: Int, _ assignment: AssignmentID, number: UInt64, at now: Instant) {
        guard table.isCurrent(assignment, at: index), table[index].tracker.complete(number) else { return }
        scheduleCheckpoint(at: now)
    }

    /// The offsets of the ledger and the group belong to records that are gone. A start there would skip the records at
    /// lower offsets. So the whole topic is read, and both offsets are set to its beginning before that.
    ///
    /// Records in flight may stand nowhere else any more, so they are decided and written first, under the present
    /// ownership.
    mutating func wentBack(_ index: Int, _ turn: inout Turn) {
        if table[index].state == .owned, table[index].tracker.incomplete > 0 {
            table[index].end = .wentBack
            checkpointAt = turn.now
        } else {
            lose(index, .fetching, &turn)
        }
        table[index].readsOldest = true
    }

    /// A record comes damaged, and nothing behind it is read any more. Records before it go on, or an operator could
    /// never pass it. Then the partition is taken over anew and read from there.
    ///
    /// Where it is the first that comes, it moves the checkpoint as a whole one would. The ledger may have none yet, or
    /// one that is not in the log, and an operator passes offsets from the checkpoint on.
    mutating func damaged(_ index: Int, from offset: Int64, at now: Instant) {
        guard table[index].state == .owned, table[index].end == nil else { return }
        table[index].end = .damaged(since: now)
        guard table[index].checkpoint != offset, table[index].tracker.begin(at: offset) else { return }
        checkpointAt.bringForward(to: now)
    }

    /// The ledger is to count the end of one check, and to mark the record whose check begins.
    func mark(_ index: Int, ended: Int64?, begins: PoisonWatch.Suspect?, _ turn: inout Turn) {
        let mark = CheckMark(ownership: table[index].ownership, ended: ended, begins: begins?.offset)
        let purpose = begins.map { LedgerCalls.Purpose.mark($0.token) }
        turn.call(.mark([mark]), for: purpose ?? .unmark(index: index, table[index].assignment))
    }

    // MARK: Losses

    /// A partition's ownership or assignment has ended. It is taken over anew, at once or after a pause.
    private mutating func lose(_ index: Int, _ state: PartitionState, _ turn: inout Turn) {
        let entry = table[index]
        if entry.state == .owned { turn.actions.unassign.append(entry.partition) }
        turn.signal(.assignmentEnded(entry.assignment))
        move(index, to: state, &turn)
        table.restart(at: index)
        if state == .fetching { turn.actions.fetchCommitted.append(entry.partition) }
    }

    /// Another worker writes for the partition. The group says so soon. Else it is taken over anew after a while, and
    /// read from the first incomplete record.
    mutating func loseToAnother(_ index: Int, _ turn: inout Turn) {
        guard table[index].state == .owned else { return }
        turn.alert(.ownershipLost(table[index].partition))
        lastCheckpoints[table[index].partition] = nil
        lose(index, .pausing(until: turn.now + Self.lostPause), &turn)
    }

    /// A new connection to the ledger needs a new take-over of everything, because the last writes may be lost. Calls
    /// under the old ownership are dropped, because the ledger may have forgotten a newer one.
    mutating func loseConnection(_ turn: inout Turn) {
        turn.ledgerCalls.forgetOwner()
        for index in table.indices where table[index].state == .owned { lose(index, .fetching, &turn) }
    }

    // MARK: Checkpoints

    private func mayCheckpoint(_ turn: borrowing Turn) -> Bool { !turn.ledgerCalls.isUnderWay(.checkpoint) }

    private mutating func scheduleCheckpoint(at now: Instant) {
        if checkpointAt == nil { checkpointAt = now + Self.checkpointInterval }
    }

    /// Writes checkpoints, if it is time.
    mutating func checkpointIfDue(_ turn: inout Turn) {
        if let moment = checkpointAt, moment <= turn.now { checkpoint(&turn) }
    }

    /// Writes how far each partition is complete, where that has changed.
    mutating func checkpoint(_ turn: inout Turn) {
        guard mayCheckpoint(turn) else { return }
        checkpointAt = nil
        var checkpoints: [OffsetCheckpoint] = []
        var indices: [(index: Int, AssignmentID)] = []
        for index in table.indices where table[index].state == .owned {
            let entry = table[index]
            // Offsets of before say nothing about the records that stand there now.
            let known = entry.end == .wentBack ? nil : entry.tracker.watermark
            let watermark = known ?? (entry.readsOldest ? 0 : nil)
            guard watermark != nil ? watermark != entry.checkpoint : entry.poison.isCalm else { continue }
            checkpoints.append(OffsetCheckpoint(ownership: entry.ownership, next: watermark))
            indices.append((index, entry.assignment))
            table[index].poison.isCalm = false
            // Set already, so that what completes meanwhile is seen as a change.
            if watermark != nil { table[index].checkpoint = watermark }
        }
        guard !checkpoints.isEmpty else { return }
        turn.call(.checkpoint(checkpoints), for: .checkpoint(indices))
    }

    /// Kafka's offsets follow the ledger's.
    mutating func checkpointed(_ indices: [(index: Int, AssignmentID)], _ stillOwned: [Bool], _ turn: inout Turn) {
        for ((index, assignment), isOwned) in zip(indices, stillOwned) {
            guard table.isCurrent(assignment, at: index) else { continue }
            let entry = table[index]
            guard isOwned else {
                loseToAnother(index, &turn)
                continue
            }
            guard entry.checkpoint != nil else { continue }
            lastCheckpoints[entry.partition] = entry.checkpoint
            if entry.end != .wentBack { table[index].readsOldest = false }
            turn.actions.commit.append(CommittedOffset(partition: entry.partition, offset: entry.checkpoint))
        }
    }
}
