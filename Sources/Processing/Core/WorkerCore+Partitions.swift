import Contract
import Ledger
import Scheduling

/// Partitions: assigned, taken over, read, noted, lost.
extension WorkerCore {
    private static let fetchPause: Duration = .seconds(1)
    private static let lostPause: Duration = .seconds(5)
    private static let noteInterval: Duration = .seconds(1)

    /// The one place where the state of a partition changes.
    private mutating func move(_ place: Int, to state: PartitionState) {
        transitions.take(from: partitions[place].state, to: state)
        partitions[place].state = state
    }

    // MARK: The group

    mutating func assigned(_ list: [TopicPartition], into actions: inout Actions) {
        guard stopping == .running else { return }
        for partition in list {
            guard let place = partitions.add(partition) else { continue }
            move(place, to: .fetching)
            actions.fetchCommitted.append(partition)
        }
        if lastMeasure == nil, measureAt == nil { measureAt = now }
    }

    mutating func revoked(_ list: [TopicPartition]) {
        for partition in list {
            guard let place = partitions.place(of: partition) else { continue }
            orphanAll(of: partitions[place].assignment)
            move(place, to: .vacant)
            partitions.remove(at: place)
            lastNoted[partition] = nil
        }
        forgetLostTakeOvers()
    }

    /// A take-over that is to be sent again would take a partition back that is another's by now. The others of its
    /// call are taken over in a new one.
    mutating func forgetLostTakeOvers() {
        let isLost = { [partitions] (place: Int, assignment: AssignmentID) in
            !partitions.isCurrent(assignment, at: place)
        }
        for taken in ledgerCalls.forgetUnsentTakeOvers(where: { $0.contains { isLost($0.place, $0.1) } }) {
            for (place, assignment) in taken where !isLost(place, assignment) {
                move(place, to: .taking(isUnderWay: false))
            }
        }
    }

    /// The offsets of the ledger and the group belong to records that are gone. A start there would skip the records at
    /// lower offsets. So the whole topic is read, and both offsets are set to its beginning before that.
    mutating func wentBack(_ place: Int, into actions: inout Actions) {
        lose(place, .fetching, into: &actions)
        partitions[place].readsOldest = true
    }

    mutating func committed(_ offsets: [CommittedOffset]?) {
        guard let offsets else {
            if fetchAt == nil { fetchAt = now + Self.fetchPause }
            return
        }
        let isTopicCommitted = offsets.contains { $0.offset != nil }
        for committed in offsets {
            guard let place = partitions.place(of: committed.partition), partitions[place].state == .fetching
            else { continue }
            partitions[place].committed = committed.offset
            partitions[place].isTopicCommitted = isTopicCommitted
            move(place, to: .taking(isUnderWay: false))
        }
    }

    // MARK: Take-over

    mutating func advancePartitions(into actions: inout Actions) {
        let isFetchDue = fetchAt.map { $0 <= now } ?? false
        if isFetchDue { fetchAt = nil }
        for place in partitions.indices {
            switch partitions[place].state {
            case .fetching where isFetchDue: break
            case .pausing(let until) where until <= now: move(place, to: .fetching)
            case .owned:
                if let moment = partitions[place].poison.calmAt, moment <= now { becomeCalm(place) }
                if let damage = partitions[place].damage, damage.isOver(at: now, partitions[place].tracker) {
                    lose(place, .fetching, into: &actions)
                }
                continue
            case .vacant, .fetching, .pausing, .taking: continue
            }
            actions.fetchCommitted.append(partitions[place].partition)
        }
    }

    var nextPartitionMoment: Instant? {
        var earliest: Instant?
        for place in partitions.indices {
            let entry = partitions[place]
            let moment: Instant? = if case .pausing(let until) = entry.state { until } else { entry.poison.calmAt }
            for moment in [moment, entry.damage?.nextLook(at: now)].compactMap(\.self) {
                earliest = min(earliest ?? moment, moment)
            }
        }
        return earliest
    }

    private mutating func becomeCalm(_ place: Int) {
        let hasRecords = partitions[place].tracker.last != nil
        let isCalm = partitions[place].poison.becomeCalm(
            hasRecords: hasRecords, demandedSince: demandedSince ?? now, at: now)
        if isCalm { noteAt = min(noteAt ?? now, now) }
    }

    /// Takes over all waiting partitions in one call, under generations that were never used.
    mutating func takeOver(into actions: inout Actions) {
        guard stopping == .running, !ledgerCalls.isUnderWay(.takeOver) else { return }
        var requests: [TakeOver] = []
        var taken: [(place: Int, AssignmentID)] = []
        for place in partitions.indices {
            guard partitions[place].state == .taking(isUnderWay: false) else { continue }
            let generation = Generation(rawValue: Int64.random(in: 1...(.max), using: &generator))
            partitions[place].generation = generation
            move(place, to: .taking(isUnderWay: true))
            let entry = partitions[place]
            requests.append(
                TakeOver(
                    ownership: entry.ownership, owner: settings.worker.name, committed: entry.committed,
                    isTopicCommitted: entry.isTopicCommitted))
            taken.append((place, entry.assignment))
        }
        guard !requests.isEmpty else { return }
        ledgerCalls.make(.takeOver(requests), for: .takeOver(taken), at: now, into: &actions)
    }

    mutating func takenOver(
        _ taken: [(place: Int, AssignmentID)], _ results: [TakeOverResult], into actions: inout Actions
    ) {
        for ((place, assignment), result) in zip(taken, results) {
            guard partitions.isCurrent(assignment, at: place) else { continue }
            let entry = partitions[place]
            switch result {
            case .forgotten(let ledger): return stop(for: .forgotten(ledger: ledger))
            case .taken(let start):
                noticeSetBack(entry, start.next, into: &actions)
                own(place, start, into: &actions)
                let first = start.passed ?? Self.start(next: start.next, committed: entry.committed)
                actions.assign.append(
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

    private mutating func own(_ place: Int, _ start: PartitionStart, into actions: inout Actions) {
        move(place, to: .owned)
        partitions[place].highestOrigin = start.highestOrigin
        // If the group has another offset, the ledger's offset is committed even if it does not change.
        let isKnown = start.next == partitions[place].committed
        partitions[place].noted = isKnown ? start.next : nil
        if let survivor = partitions[place].poison.begin(start, recordsAtOnce: limit.count, at: now) {
            mark(place, ended: survivor, begins: nil, into: &actions)
        }
        if partitions[place].readsOldest { noteAt = now }
        dueWork.schedule(at: now)
        outboxWork.schedule(at: now)
    }

    /// An offset below this worker's last note, or below the group's, shows that the ledger was set back: the group's
    /// follow the ledger's. Reading again heals it.
    private mutating func noticeSetBack(_ entry: OwnedPartition, _ next: Int64?, into actions: inout Actions) {
        let noted = max(lastNoted[entry.partition] ?? .min, entry.committed ?? .min)
        guard (next ?? .min) < noted else { return }
        actions.alerts.append(.ledgerSetBack(entry.partition, noted: noted, found: next))
        lastNoted[entry.partition] = next
    }

    /// A partition's ownership or assignment has ended. It is taken over anew, at once or after a pause.
    mutating func lose(_ place: Int, _ state: PartitionState, into actions: inout Actions) {
        let entry = partitions[place]
        if entry.state == .owned { actions.unassign.append(entry.partition) }
        orphanAll(of: entry.assignment)
        move(place, to: state)
        partitions.restart(at: place)
        if state == .fetching { actions.fetchCommitted.append(entry.partition) }
    }

    /// Another worker writes for the partition. The group says so soon, or it comes back.
    mutating func loseToAnother(_ place: Int, into actions: inout Actions) {
        guard partitions[place].state == .owned else { return }
        actions.alerts.append(.ownershipLost(partitions[place].partition))
        lastNoted[partitions[place].partition] = nil
        pause(place, into: &actions)
    }

    /// A partition is taken over anew after a while, and read from the first record that is not complete.
    mutating func pause(_ place: Int, into actions: inout Actions) {
        lose(place, .pausing(until: now + Self.lostPause), into: &actions)
    }

    /// A record comes damaged, and nothing behind it is read any more. Records before it go on, or an operator could
    /// never pass it. Then the partition is taken over anew and read from there.
    mutating func damaged(_ place: Int) {
        guard partitions[place].state == .owned, partitions[place].damage == nil else { return }
        partitions[place].damage = DamagedEnd(since: now)
    }

    /// A new connection to the ledger needs a new take-over of everything, because the last writes may be lost. Calls
    /// under the old ownership are dropped, because the ledger may have forgotten a newer one.
    mutating func loseConnection(into actions: inout Actions) {
        ledgerCalls.forgetOwner()
        for place in partitions.indices where partitions[place].state == .owned {
            lose(place, .fetching, into: &actions)
        }
    }

    // MARK: Notes

    var mayNote: Bool { !ledgerCalls.isUnderWay(.note) }

    mutating func scheduleNote() {
        if noteAt == nil { noteAt = now + Self.noteInterval }
    }

    /// Notes how far each partition is complete, where that has changed.
    mutating func note(into actions: inout Actions) {
        guard mayNote else { return }
        noteAt = nil
        var notes: [OffsetNote] = []
        var noted: [(place: Int, AssignmentID)] = []
        for place in partitions.indices where partitions[place].state == .owned {
            let entry = partitions[place]
            let watermark = entry.tracker.watermark ?? (entry.readsOldest ? 0 : nil)
            guard watermark != nil ? watermark != entry.noted : entry.poison.isCalm else { continue }
            notes.append(OffsetNote(ownership: entry.ownership, next: watermark))
            noted.append((place, entry.assignment))
            partitions[place].poison.isCalm = false
            // Set already, so that what completes meanwhile is seen as a change.
            if watermark != nil { partitions[place].noted = watermark }
        }
        guard !notes.isEmpty else { return }
        ledgerCalls.make(.note(notes), for: .note(noted), at: now, into: &actions)
    }

    /// Kafka's offsets follow the ledger's.
    mutating func noted(
        _ noted: [(place: Int, AssignmentID)], _ stillOwned: [Bool], into actions: inout Actions
    ) {
        for ((place, assignment), isOwned) in zip(noted, stillOwned) {
            guard partitions.isCurrent(assignment, at: place) else { continue }
            let entry = partitions[place]
            guard isOwned else {
                loseToAnother(place, into: &actions)
                continue
            }
            guard entry.noted != nil else { continue }
            lastNoted[entry.partition] = entry.noted
            partitions[place].readsOldest = false
            actions.commit.append(CommittedOffset(partition: entry.partition, offset: entry.noted))
        }
    }
}
