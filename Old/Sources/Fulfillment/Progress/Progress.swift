/// A record that was admitted, to be named when it is done.
struct Ticket: Hashable, Sendable {
    let partition: TopicPartition
    /// Which assignment of the partition the record was read under.
    let epoch: UInt64
    /// Which pass over the partition it was read in.
    let pass: UInt64
    let offset: Int64
}

/// The offsets that may be committed, over all partitions that are ours.
///
/// A partition that goes and comes back starts anew under another epoch: results of work begun before count in the
/// ledger, and never move an offset that may be another worker's by now.
struct Progress: Sendable {
    /// A record that was taken in.
    struct Admission: Hashable, Sendable {
        let ticket: Ticket
        /// Whether its offset is not above the one before: see ``PartitionProgress/admit(_:at:)``.
        let wentBack: Bool
    }

    private struct Assignment {
        let epoch: UInt64
        var progress = PartitionProgress()
        var readAge: Duration?
    }

    private var assignments: [TopicPartition: Assignment] = [:]
    private var moved: Set<TopicPartition> = []

    /// Partitions that are ours, in order.
    var partitions: [TopicPartition] { assignments.keys.sorted() }

    /// Records admitted from partitions that are ours and not behind their watermark.
    var unfinished: Int { assignments.values.reduce(0) { $0 + $1.progress.unfinished } }

    /// The partition is ours from now on.
    mutating func assigned(_ partition: TopicPartition, epoch: UInt64) {
        assignments[partition] = Assignment(epoch: epoch)
        moved.remove(partition)
    }

    /// The partition goes.
    ///
    /// - Returns: the offset to commit for it; nil if nothing was completed.
    mutating func revoked(_ partition: TopicPartition) -> Int64? {
        moved.remove(partition)
        return assignments.removeValue(forKey: partition)?.progress.watermark
    }

    /// A record was read; nil if its partition is not ours.
    mutating func admit(_ offset: Int64, of partition: TopicPartition, at now: Duration = .zero) -> Admission? {
        guard let place = assignments.index(forKey: partition) else { return nil }
        // Changed in place: taken out and put back, the whole list would be copied each time.
        let admission = assignments.values[place].progress.admit(offset, at: now)
        if admission.wentBack { moved.insert(partition) }
        return Admission(
            ticket: Ticket(
                partition: partition, epoch: assignments.values[place].epoch, pass: admission.pass, offset: offset),
            wentBack: admission.wentBack)
    }

    /// The newest record of a partition was so old when it was read.
    mutating func noteAge(_ age: Duration, of partition: TopicPartition) {
        assignments[partition]?.readAge = age
    }

    /// A record's outcome is in the ledger.
    mutating func complete(_ ticket: Ticket) {
        guard let place = assignments.index(forKey: ticket.partition), assignments.values[place].epoch == ticket.epoch
        else { return }
        if assignments.values[place].progress.complete(ticket.offset, pass: ticket.pass) {
            moved.insert(ticket.partition)
        }
    }

    /// The offsets that moved since they were last taken.
    mutating func takeMoved() -> [TopicPartition: Watermark] {
        var offsets: [TopicPartition: Watermark] = [:]
        for partition in moved {
            guard let assignment = assignments[partition], let offset = assignment.progress.watermark else { continue }
            offsets[partition] = Watermark(offset: offset, epoch: assignment.epoch)
        }
        moved = []
        return offsets
    }

    /// How each partition that is ours stands, in order.
    var standings: [PartitionStanding] {
        assignments.sorted { $0.key < $1.key }.map { partition, assignment in
            let progress = assignment.progress
            return PartitionStanding(
                partition: partition, unfinished: progress.unfinished,
                oldest: progress.oldestUnfinished.flatMap { offset in
                    progress.oldestAdmittedAt.map { .init(offset: offset, admittedAt: $0) }
                },
                lastRead: progress.lastAdmitted, readAge: assignment.readAge)
        }
    }
}
