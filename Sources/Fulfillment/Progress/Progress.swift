/// A record that was admitted, to be named when it is done.
struct Ticket: Hashable, Sendable {
    let partition: TopicPartition
    /// Which assignment of the partition the record was read under.
    let epoch: UInt64
    let offset: Int64
}

/// The offsets that may be committed, over all partitions that are ours.
///
/// A partition that goes and comes back starts anew under another epoch: results of work begun before count in the
/// ledger, and never move an offset that may be another worker's by now.
struct Progress: Sendable {
    private struct Assignment {
        let epoch: UInt64
        var progress = PartitionProgress()
    }

    private var assignments: [TopicPartition: Assignment] = [:]
    private var moved: Set<TopicPartition> = []
    private var lastEpoch: UInt64 = 0

    /// Partitions that are ours, in order.
    var partitions: [TopicPartition] { assignments.keys.sorted() }

    /// Records admitted from partitions that are ours and not behind their watermark.
    var unfinished: Int { assignments.values.reduce(0) { $0 + $1.progress.unfinished } }

    /// The partition is ours from now on.
    mutating func assigned(_ partition: TopicPartition) {
        lastEpoch += 1
        assignments[partition] = Assignment(epoch: lastEpoch)
    }

    /// The partition goes.
    ///
    /// - Returns: the offset to commit for it; nil if nothing was completed.
    mutating func revoked(_ partition: TopicPartition) -> Int64? {
        moved.remove(partition)
        return assignments.removeValue(forKey: partition)?.progress.watermark
    }

    /// A record was read; nil if its partition is not ours or the record was read before.
    mutating func admit(_ offset: Int64, of partition: TopicPartition) -> Ticket? {
        // Changed in place: taken out and put back, the whole list would be copied each time.
        guard let epoch = assignments[partition]?.epoch, assignments[partition]?.progress.admit(offset) == true else {
            return nil
        }
        return Ticket(partition: partition, epoch: epoch, offset: offset)
    }

    /// A record's outcome is in the ledger.
    mutating func complete(_ ticket: Ticket) {
        guard assignments[ticket.partition]?.epoch == ticket.epoch else { return }
        if assignments[ticket.partition]?.progress.complete(ticket.offset) == true {
            moved.insert(ticket.partition)
        }
    }

    /// The offsets that moved since they were last taken.
    mutating func takeMoved() -> [TopicPartition: Int64] {
        var offsets: [TopicPartition: Int64] = [:]
        for partition in moved { offsets[partition] = assignments[partition]?.progress.watermark }
        moved = []
        return offsets
    }
}
