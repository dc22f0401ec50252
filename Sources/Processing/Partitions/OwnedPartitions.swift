import Contract
import Ledger
import Scheduling

struct OwnedPartition: Sendable {
    let partition: TopicPartition
    var state = PartitionState.vacant
    /// The present assignment; results for an earlier one are dropped.
    var assignment: AssignmentID
    var generation = Generation(rawValue: 0)
    var committed: Int64?
    /// The group has an offset of its topic.
    var isTopicCommitted = false
    var tracker = OffsetTracker()
    /// Its offsets went back, and the ledger has no checkpoint since: it is read from the oldest record.
    var readsOldest = false
    /// Up to here records may be redeliveries.
    var highestOrigin: Int64?
    /// Its checkpoint in the ledger.
    var checkpoint: Int64?
    var poison = PoisonWatch()
    /// Set once nothing more is read of it under this assignment.
    var end: ReadingEnd?
    static let vacant = OwnedPartition(
        partition: TopicPartition(topic: "", partition: -1), assignment: AssignmentID(rawValue: 0))

    var ownership: PartitionOwnership { PartitionOwnership(partition: partition, generation: generation) }
}

/// Why nothing more is read of a partition under its assignment.
enum ReadingEnd: Hashable, Sendable {
    private static let pause: Duration = .seconds(5)
    /// Records before a damaged one that take longer are read again.
    private static let longest: Duration = .seconds(60)

    /// Its next record comes damaged.
    case damaged(since: Instant)
    /// Its offsets went back. The records that were read of it may stand on no topic any more.
    case wentBack

    /// Whether the partition is taken over anew: once all that was read is complete, or can be read again.
    func isOver(at now: Instant, _ tracker: OffsetTracker) -> Bool {
        switch self {
        case .damaged(let since): now >= since + (tracker.incomplete > 0 ? Self.longest : Self.pause)
        case .wentBack: tracker.incomplete == 0
        }
    }

    /// When time alone may end it; nil if it does not.
    func nextLook(at now: Instant) -> Instant? {
        guard case .damaged(let since) = self else { return nil }
        return since + (now < since + Self.pause ? Self.pause : Self.longest)
    }
}

/// The partitions that the group has given to this worker.
///
/// Indices never change, so that a submission in flight finds its partition without a search; an assignment's number
/// shows whether it is still the same.
struct OwnedPartitions {
    private var entries: [OwnedPartition] = []
    private var assignments: UInt64 = 0

    /// All of them, in order; some are empty.
    var indices: Range<Int> { entries.indices }

    /// The partition of an assignment; nil if that has ended.
    func index(of assignment: AssignmentID) -> Int? {
        entries.firstIndex { $0.assignment == assignment }
    }

    func index(of partition: TopicPartition) -> Int? {
        entries.firstIndex { $0.partition == partition }
    }

    func isCurrent(_ assignment: AssignmentID, at index: Int) -> Bool {
        index < entries.count && entries[index].assignment == assignment
    }

    subscript(index: Int) -> OwnedPartition {
        _read { yield entries[index] }
        _modify { yield &entries[index] }
    }

    /// Adds a partition, in state `vacant` still; nil if it is there already.
    mutating func add(_ partition: TopicPartition) -> Int? {
        guard index(of: partition) == nil else { return nil }
        let entry = OwnedPartition(partition: partition, assignment: nextAssignment())
        if let index = entries.firstIndex(where: { $0.state == .vacant }) {
            entries[index] = entry
            return index
        }
        entries.append(entry)
        return entries.count - 1
    }

    mutating func remove(at index: Int) { entries[index] = .vacant }

    /// Gives a partition a new assignment; results for the former one are dropped.
    mutating func restart(at index: Int) {
        let old = entries[index]
        var entry = OwnedPartition(partition: old.partition, assignment: nextAssignment())
        entry.state = old.state
        entry.readsOldest = old.readsOldest
        entry.poison = old.poison.next
        entries[index] = entry
    }

    private mutating func nextAssignment() -> AssignmentID {
        assignments += 1
        return AssignmentID(rawValue: assignments)
    }
}
