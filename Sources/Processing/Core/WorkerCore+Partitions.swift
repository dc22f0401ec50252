import Contract
import Ledger
import Scheduling

/// Partitions: assigned, taken over, read, noted, lost.
extension WorkerCore {
    private static let fetchPause: Duration = .seconds(1)
    private static let lostPause: Duration = .seconds(5)
    private static let noteInterval: Duration = .seconds(1)
    /// From so many starts at one offset on, records are read one by one.
    private static let startsOfSuspicion = 3
    /// A record whose check had begun at so many starts in a row is quarantined. Workers end for other reasons, too.
    private static let endsOfSuspect = 3

    // MARK: The group

    mutating func assigned(_ list: [TopicPartition], into actions: inout Actions) {
        guard stopping == .running else { return }
        for partition in list where partitions.add(partition) != nil { actions.fetchCommitted.append(partition) }
        if lastMeasure == nil, measureAt == nil { measureAt = now }
    }

    mutating func revoked(_ list: [TopicPartition]) {
        for partition in list {
            guard let place = partitions.place(of: partition), let entry = partitions[place] else { continue }
            orphanAll(of: entry.assignment)
            partitions.remove(at: place)
        }
    }

    mutating func committed(_ offsets: [CommittedOffset]?) {
        guard let offsets else {
            if fetchAt == nil { fetchAt = now + Self.fetchPause }
            return
        }
        for committed in offsets {
            guard let place = partitions.place(of: committed.partition), partitions[place]?.state == .fetching
            else { continue }
            partitions[place]?.committed = committed.offset
            partitions[place]?.state = .taking(isUnderWay: false)
        }
    }

    // MARK: Take-over

    mutating func advancePartitions(into actions: inout Actions) {
        let isFetchDue = fetchAt.map { $0 <= now } ?? false
        if isFetchDue { fetchAt = nil }
        for place in partitions.indices {
            guard let entry = partitions[place] else { continue }
            switch entry.state {
            case .fetching where isFetchDue: actions.fetchCommitted.append(entry.partition)
            case .pausing(let until) where until <= now:
                partitions[place]?.state = .fetching
                actions.fetchCommitted.append(entry.partition)
            case .fetching, .pausing, .taking, .owned: break
            }
        }
    }

    var nextPartitionMoment: Instant? {
        partitions.indices.compactMap { place in
            if case .pausing(let until) = partitions[place]?.state { until } else { nil }
        }.min()
    }

    /// Takes all over that wait for it, in one call, under generations that were never used.
    mutating func takeOver(into actions: inout Actions) {
        guard stopping == .running, !ledgerCalls.isUnderWay(.takeOver) else { return }
        var requests: [TakeOver] = []
        var taken: [(place: Int, AssignmentID)] = []
        for place in partitions.indices {
            guard partitions[place]?.state == .taking(isUnderWay: false) else { continue }
            let generation = Generation(rawValue: Int64.random(in: 1...(.max), using: &generator))
            partitions[place]?.generation = generation
            partitions[place]?.state = .taking(isUnderWay: true)
            guard let entry = partitions[place] else { continue }
            requests.append(
                TakeOver(ownership: entry.ownership, owner: settings.workerName, committed: entry.committed))
            taken.append((place, entry.assignment))
        }
        guard !requests.isEmpty else { return }
        ledgerCalls.make(.takeOver(requests), for: .takeOver(taken), into: &actions)
    }

    mutating func takenOver(
        _ taken: [(place: Int, AssignmentID)], _ results: [TakeOverResult], into actions: inout Actions
    ) {
        for ((place, assignment), result) in zip(taken, results) {
            guard partitions.isCurrent(assignment, at: place), let entry = partitions[place] else { continue }
            switch result {
            case .forgotten(let ledger): return stop(for: .forgotten(ledger: ledger))
            case .taken(let start):
                noticeSetBack(entry.partition, start.next, into: &actions)
                own(place, start)
                actions.assign.append(
                    Assignment(
                        id: assignment, partition: entry.partition,
                        start: Self.start(next: start.next, committed: entry.committed)))
            }
        }
    }

    /// Reading starts at the smaller of the ledger's offset and the group's; none counts as the oldest record. A ledger
    /// that has none although the group has was set back to a time before its first one.
    static func start(next: Int64?, committed: Int64?) -> Assignment.Start {
        guard let next, let committed else { return .oldest }
        return .offset(min(next, committed))
    }

    private mutating func own(_ place: Int, _ start: PartitionStart) {
        partitions[place]?.state = .owned
        partitions[place]?.highestOrigin = start.highestOrigin
        // Where the group has another offset, it hears of the ledger's even if that does not change.
        let isKnown = start.next == partitions[place]?.committed
        partitions[place]?.noted = isKnown ? start.next : nil
        if let suspect = start.suspect, suspect.ends >= Self.endsOfSuspect {
            partitions[place]?.marked = suspect.offset
        }
        partitions[place]?.readsAlone = start.starts >= Self.startsOfSuspicion
        dueWork.poll(at: now)
        outboxWork.poll(at: now)
    }

    /// Less than this worker has written is a ledger that was set back; it heals itself by reading again.
    private mutating func noticeSetBack(_ partition: TopicPartition, _ next: Int64?, into actions: inout Actions) {
        guard let noted = lastNoted[partition], (next ?? .min) < noted else { return }
        actions.alerts.append(.ledgerSetBack(partition, noted: noted, found: next))
        lastNoted[partition] = next
    }

    /// A partition's ownership or assignment is of no more use: it is taken over anew, at once or after a pause.
    mutating func lose(_ place: Int, _ state: PartitionState, into actions: inout Actions) {
        guard let entry = partitions[place] else { return }
        if entry.state == .owned { actions.unassign.append(entry.partition) }
        orphanAll(of: entry.assignment)
        partitions.restart(at: place, state)
        if state == .fetching { actions.fetchCommitted.append(entry.partition) }
    }

    /// Another worker writes for the partition. The group says so soon, or it comes back.
    mutating func loseToAnother(_ place: Int, into actions: inout Actions) {
        guard let entry = partitions[place], entry.state == .owned else { return }
        actions.alerts.append(.ownershipLost(entry.partition))
        lose(place, .pausing(until: now + Self.lostPause), into: &actions)
    }

    /// A new connection to the ledger is a new take-over of everything: writes of the last moment may be lost.
    /// What was to be said under the old ownership is not said to a ledger that may have forgotten the newer one.
    mutating func loseConnection(into actions: inout Actions) {
        ledgerCalls.forgetOwner()
        for place in partitions.indices where partitions[place]?.state == .owned {
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
        for place in partitions.indices {
            guard let entry = partitions[place], entry.state == .owned, let watermark = entry.tracker.watermark,
                watermark != entry.noted
            else { continue }
            notes.append(OffsetNote(ownership: entry.ownership, next: watermark))
            noted.append((place, entry.assignment))
            // Set already, so that what completes meanwhile is seen as a change.
            partitions[place]?.noted = watermark
        }
        guard !notes.isEmpty else { return }
        ledgerCalls.make(.note(notes), for: .note(noted), into: &actions)
    }

    /// Kafka's offsets follow the ledger's.
    mutating func noted(
        _ noted: [(place: Int, AssignmentID)], _ stillOwned: [Bool], into actions: inout Actions
    ) {
        for ((place, assignment), isOwned) in zip(noted, stillOwned) {
            guard partitions.isCurrent(assignment, at: place), let entry = partitions[place] else { continue }
            guard isOwned else {
                loseToAnother(place, into: &actions)
                continue
            }
            lastNoted[entry.partition] = entry.noted
            actions.commit.append(CommittedOffset(partition: entry.partition, offset: entry.noted))
        }
    }
}
