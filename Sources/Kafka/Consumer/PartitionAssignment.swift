internal import CLibrdkafka
internal import Contract

/// The partitions that the group has granted to this member, and the subset that is read. Pure: events in, calls out.
///
/// The group grants a partition and is answered at once. Reading begins later, when the owner of this consumer has
/// taken the partition over in the ledger and says where to start. Three rules of librdkafka determine the calls. The
/// eager protocol knows `assign` only, which replaces everything. The cooperative protocol knows the incremental calls
/// only. One partition that was not added makes the removal of all fail.
struct PartitionAssignment {
    enum Call: Equatable {
        /// `rd_kafka_assign` with these and no others, each from its offset.
        case replace([TopicPartition: Int64])
        /// `rd_kafka_assign` without a list: the answer to a revocation under the eager protocol.
        case unassign
        /// `rd_kafka_incremental_assign`.
        case add([TopicPartition: Int64])
        /// `rd_kafka_incremental_unassign`.
        case remove([TopicPartition])
    }

    struct Reading: Equatable {
        let assignmentID: UInt64
        /// The next offset to be handed over; negative until the first record if the start is the oldest one.
        var next: Int64
        /// The first offset that nobody has read, where reading begins at the oldest record: the records between them
        /// are gone.
        var expected: Int64?
        /// The offset was out of range, and reading goes on at the oldest record. The record's offset shows in which
        /// direction.
        var isReset = false

        /// Where librdkafka begins it. A reset partition stays at its oldest record until one came: of several that are
        /// reset, each would else undo the others' resets.
        var start: Int64 { isReset ? Int64(RD_KAFKA_OFFSET_BEGINNING) : next }
    }

    private(set) var granted: Set<TopicPartition> = []
    private(set) var readings: [TopicPartition: Reading] = [:]

    /// The group grants partitions: all there are (eager) or further ones (incremental).
    /// - Returns: the answer that is due at once.
    mutating func grant(_ partitions: [TopicPartition], isIncremental: Bool) -> Call {
        guard isIncremental else {
            granted = Set(partitions)
            readings = [:]
            return .replace([:])
        }
        granted.formUnion(partitions)
        return .add([:])
    }

    /// The group takes partitions away: all (eager) or some (incremental).
    /// - Returns: the answer that is due at once.
    mutating func revoke(_ partitions: [TopicPartition], isIncremental: Bool) -> Call {
        guard isIncremental else {
            granted = []
            readings = [:]
            return .unassign
        }
        granted.subtract(partitions)
        let removed = partitions.filter { readings.removeValue(forKey: $0) != nil }
        return .remove(removed.sorted())
    }

    /// Begins to read granted partitions from an offset, those too that are read already. Other partitions are left
    /// out: the group has taken them away meanwhile.
    /// - Returns: the calls to make, in this order.
    mutating func start(_ starts: [KafkaStart], isIncremental: Bool) -> [Call] {
        let valid = starts.filter { granted.contains($0.partition) }
        guard !valid.isEmpty else { return [] }
        var again: [TopicPartition] = []
        var offsets: [TopicPartition: Int64] = [:]
        for start in valid {
            let first = start.offset ?? Int64(RD_KAFKA_OFFSET_BEGINNING)
            let reading = Reading(assignmentID: start.assignmentID, next: first, expected: start.expected)
            if readings.updateValue(reading, forKey: start.partition) != nil { again.append(start.partition) }
            offsets[start.partition] = first
        }
        guard isIncremental else { return [replacement] }
        return (again.isEmpty ? [] : [.remove(again.sorted())]) + [.add(offsets)]
    }

    private var replacement: Call { .replace(readings.mapValues(\.start)) }

    /// Ends the reading of partitions, which stay granted.
    mutating func stop(_ partitions: [TopicPartition], isIncremental: Bool) -> [Call] {
        let stopped = partitions.filter { readings.removeValue(forKey: $0) != nil }
        guard !stopped.isEmpty else { return [] }
        return isIncremental ? [.remove(stopped.sorted())] : [replacement]
    }

    /// Remembers how far a partition's records were handed over.
    mutating func advance(_ partition: TopicPartition, to next: Int64) {
        readings[partition]?.next = next
        readings[partition]?.isReset = false
    }

    /// librdkafka has stopped reading a partition, because an offset is out of range. If the next record is gone,
    /// reading goes on at the oldest one, whose offset shows more.
    /// - Returns: the calls to make, in this order.
    mutating func restart(_ partition: TopicPartition, after offset: Int64, isIncremental: Bool) -> [Call] {
        guard var reading = readings[partition] else { return [] }
        if Self.isNextGone(offset, in: reading) { reading.isReset = true }
        readings[partition] = reading
        return isIncremental ? [.remove([partition]), .add([partition: reading.start])] : [replacement]
    }

    /// Whether an error names the next offset, or none: librdkafka 2.1 and later say so of a log that lost its end. It
    /// may be another offset: behind a damaged batch librdkafka goes on at any offset, and says so after the partition
    /// was begun anew.
    static func isNextGone(_ offset: Int64, in reading: Reading) -> Bool { offset == reading.next || offset < 0 }

    enum Arrival: Equatable {
        case inOrder
        /// Records before it were deleted before they were read.
        case afterGone(Range<Int64>)
        /// The topic's offsets begin anew: it was made again, or lost its end.
        case wentBack(expected: Int64)
    }

    /// The meaning of an offset that comes next; offsets without records are passed over as usual.
    static func arrival(of offset: Int64, in reading: Reading) -> Arrival {
        guard reading.next >= 0 else {
            guard let expected = reading.expected, expected < offset else { return .inOrder }
            return .afterGone(expected..<offset)
        }
        if offset < reading.next { return .wentBack(expected: reading.next) }
        if reading.isReset, offset > reading.next { return .afterGone(reading.next..<offset) }
        return .inOrder
    }

    /// The meaning of a damaged batch that comes next, by its first offset. That may stand before the next record: a
    /// batch comes as a whole.
    static func arrival(ofDamaged offset: Int64, in reading: Reading) -> Arrival {
        isAnywhere(reading) ? arrival(of: offset, in: reading) : .inOrder
    }

    /// The first offset that such a batch keeps from being handed over. No checksum covers the offset that a batch
    /// names, so it counts only where no other is known.
    static func firstDamaged(_ offset: Int64, in reading: Reading) -> Int64 {
        isAnywhere(reading) ? offset : reading.next
    }

    /// Whether any offset may come next.
    private static func isAnywhere(_ reading: Reading) -> Bool { reading.isReset || reading.next < 0 }
}
