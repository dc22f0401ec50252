import Contract
import Ledger
import Scheduling

/// What this worker has to do with one partition. States of an ``OwnedPartition``:
///
/// | state | waits for | then |
/// |---|---|---|
/// | `fetching` | the group's committed offset | `taking` |
/// | `taking` | the ledger's take-over | `owned` |
/// | `owned` | nothing: it is read | `fetching` anew, when the connection or the ownership was lost |
/// | `pausing` | a moment, because another worker has taken it | `fetching` |
///
/// The group can take a partition away in every state.
enum PartitionState: Hashable, Sendable {
    case fetching
    case taking(isUnderWay: Bool)
    case owned
    case pausing(until: Instant)
}

struct OwnedPartition: Sendable {
    let partition: TopicPartition
    var state = PartitionState.fetching
    /// Of the present life; results for an earlier one find nobody.
    var assignment: AssignmentID
    var generation = Generation(rawValue: 0)
    var committed: Int64?
    var tracker = OffsetTracker()
    /// Up to here records may be redeliveries.
    var highestOrigin: Int64?
    /// What the ledger has noted.
    var noted: Int64?
    /// The record whose check has ended workers, to be quarantined unread.
    var marked: Int64?
    /// Its first records are read one by one; ``readAloneBefore`` is known once the first one is here.
    var readsAlone = false
    /// Up to here records are read one by one; nil if all are read as they come.
    var readAloneBefore: Int64?
    /// Records that wait for the one before them, when they are read one by one.
    var alone = FIFO<SubmissionToken>()
    /// The record that is read alone at the moment.
    var checkedAlone: (token: SubmissionToken, offset: Int64)?

    /// What taking a record in needs.
    struct Reading {
        let assignment: AssignmentID
        let ownership: PartitionOwnership
        let highestOrigin: Int64?
        let marked: Int64?
        let aloneBefore: Int64?
    }

    var reading: Reading {
        Reading(
            assignment: assignment, ownership: ownership, highestOrigin: highestOrigin, marked: marked,
            aloneBefore: readAloneBefore)
    }

    var ownership: PartitionOwnership { PartitionOwnership(partition: partition, generation: generation) }
}

/// The partitions that the group has given to this worker.
///
/// Places never move, so that a submission in flight finds its partition without a search; an assignment's number tells
/// whether it is still the same.
struct PartitionTable {
    private var places: [OwnedPartition?] = []
    private var assignments: UInt64 = 0

    /// Places that are taken, in order.
    var indices: [Int] { places.indices.filter { places[$0] != nil } }
    var isEmpty: Bool { places.allSatisfy { $0 == nil } }

    /// The partition of an assignment; nil if that has ended.
    func place(of assignment: AssignmentID) -> Int? {
        places.firstIndex { $0?.assignment == assignment }
    }

    func place(of partition: TopicPartition) -> Int? {
        places.firstIndex { $0?.partition == partition }
    }

    func isCurrent(_ assignment: AssignmentID, at place: Int) -> Bool {
        place < places.count && places[place]?.assignment == assignment
    }

    subscript(place: Int) -> OwnedPartition? {
        _read { yield places[place] }
        _modify { yield &places[place] }
    }

    /// Adds a partition, in state `fetching`; nil if it is there already.
    mutating func add(_ partition: TopicPartition) -> Int? {
        guard place(of: partition) == nil else { return nil }
        let entry = OwnedPartition(partition: partition, assignment: nextAssignment())
        if let place = places.firstIndex(where: { $0 == nil }) {
            places[place] = entry
            return place
        }
        places.append(entry)
        return places.count - 1
    }

    mutating func remove(at place: Int) { places[place] = nil }

    /// Begins another life of a partition; whatever belongs to the one before is of no more use.
    mutating func restart(at place: Int, _ state: PartitionState) {
        guard let old = places[place] else { return }
        var entry = OwnedPartition(partition: old.partition, assignment: nextAssignment())
        entry.state = state
        places[place] = entry
    }

    private mutating func nextAssignment() -> AssignmentID {
        assignments += 1
        return AssignmentID(rawValue: assignments)
    }
}
