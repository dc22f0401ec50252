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
    /// Its offsets went back, and the ledger has not noted that yet: it is read from the oldest record.
    var readsOldest = false
    /// Up to here records may be redeliveries.
    var highestOrigin: Int64?
    /// The offset that the ledger has noted.
    var noted: Int64?
    var poison = PoisonWatch()
    /// Set once its next record has come damaged.
    var damage: DamagedEnd?
    static let vacant = OwnedPartition(
        partition: TopicPartition(topic: "", partition: -1), assignment: AssignmentID(rawValue: 0))

    var ownership: PartitionOwnership { PartitionOwnership(partition: partition, generation: generation) }
}

/// A partition whose next record comes damaged.
struct DamagedEnd: Hashable, Sendable {
    private static let pause: Duration = .seconds(5)
    /// Records before it that take longer are read again.
    private static let longest: Duration = .seconds(60)

    let since: Instant

    /// Whether the partition is read again: after a pause, and once all before is complete.
    func isOver(at now: Instant, _ tracker: OffsetTracker) -> Bool {
        now >= since + (tracker.incomplete > 0 ? Self.longest : Self.pause)
    }

    func nextLook(at now: Instant) -> Instant { since + (now < since + Self.pause ? Self.pause : Self.longest) }
}

/// The partitions that the group has given to this worker.
///
/// Places never move, so that a submission in flight finds its partition without a search; an assignment's number tells
/// whether it is still the same.
struct OwnedPartitions {
    private var places: [OwnedPartition] = []
    private var assignments: UInt64 = 0

    /// All places, in order; some are empty.
    var indices: Range<Int> { places.indices }
    var isEmpty: Bool { places.allSatisfy { $0.state == .vacant } }

    /// The partition of an assignment; nil if that has ended.
    func place(of assignment: AssignmentID) -> Int? {
        places.firstIndex { $0.assignment == assignment }
    }

    func place(of partition: TopicPartition) -> Int? {
        places.firstIndex { $0.partition == partition }
    }

    func isCurrent(_ assignment: AssignmentID, at place: Int) -> Bool {
        place < places.count && places[place].assignment == assignment
    }

    subscript(place: Int) -> OwnedPartition {
        _read { yield places[place] }
        _modify { yield &places[place] }
    }

    /// Adds a partition, in state `vacant` still; nil if it is there already.
    mutating func add(_ partition: TopicPartition) -> Int? {
        guard place(of: partition) == nil else { return nil }
        let entry = OwnedPartition(partition: partition, assignment: nextAssignment())
        if let place = places.firstIndex(where: { $0.state == .vacant }) {
            places[place] = entry
            return place
        }
        places.append(entry)
        return places.count - 1
    }

    mutating func remove(at place: Int) { places[place] = .vacant }

    /// Gives a partition a new assignment; results for the former one are dropped.
    mutating func restart(at place: Int) {
        let old = places[place]
        var entry = OwnedPartition(partition: old.partition, assignment: nextAssignment())
        entry.state = old.state
        entry.readsOldest = old.readsOldest
        entry.poison = old.poison.next
        places[place] = entry
    }

    private mutating func nextAssignment() -> AssignmentID {
        assignments += 1
        return AssignmentID(rawValue: assignments)
    }
}
