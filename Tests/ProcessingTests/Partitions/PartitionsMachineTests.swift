import Contract
import Ledger
import Scheduling
import Testing

@testable import Processing

@Suite("The machine of partitions")
final class PartitionsMachineTests {
    private var turn = Turn(seed: 1)
    private var partitions = Partitions(owner: "w", recordsAtOnce: 2)

    /// Brings a partition to where it is read.
    /// - Returns: its assignment.
    private func own(_ start: PartitionStart? = nil) -> AssignmentID {
        partitions.assigned([Fixture.partition], &turn)
        return takeOver(start)
    }

    private func takeOver(_ start: PartitionStart? = nil, committed: Int64? = 5) -> AssignmentID {
        partitions.committed([CommittedOffset(partition: Fixture.partition, offset: committed)], &turn)
        partitions.takeOver(&turn)
        turn.endCalls()
        let index = partitions.table.index(of: Fixture.partition) ?? -1
        let assignment = partitions.table[index].assignment
        let start = start ?? PartitionStart(next: 5, highestOrigin: nil, starts: 1, suspect: nil)
        partitions.takenOver([(index, assignment)], [.taken(start)], &turn)
        return assignment
    }

    private func register(_ offsets: [Int64], _ assignment: AssignmentID) -> RecordSource? {
        partitions.register(RecordBatch(assignment: assignment, records: offsets.map { Fixture.record($0) }), &turn)
    }

    private var ended: [AssignmentID] {
        turn.takeSignals().compactMap {
            guard case .assignmentEnded(let assignment) = $0 else { return nil }
            return assignment
        }
    }

    @Test("reads from the smaller one of the ledger's offset and the group's")
    func start() {
        let assignment = own(PartitionStart(next: 3, highestOrigin: 7, starts: 1, suspect: nil))
        #expect(
            turn.actions.assign == [Assignment(id: assignment, partition: Fixture.partition, start: 3, expected: nil)])
    }

    @Test("reads from the oldest record where the group has no offset, and says which one nobody has read")
    func startsAtOldest() {
        partitions.assigned([Fixture.partition], &turn)
        let assignment = takeOver(PartitionStart(next: 3, highestOrigin: 7, starts: 1, suspect: nil), committed: nil)
        #expect(
            turn.actions.assign == [Assignment(id: assignment, partition: Fixture.partition, start: nil, expected: 3)])
    }

    @Test("numbers the records of a batch one after the other, and knows which may be redeliveries")
    func numbers() throws {
        let assignment = own(PartitionStart(next: 5, highestOrigin: 7, starts: 1, suspect: nil))
        let source = try #require(result { register([5, 7, 9], assignment) })
        guard case .record(source.index, assignment, let number, _) = source.source(of: 2) else {
            return fail()
        }
        #expect(number == source.firstNumber + 2)
        #expect(source.mayBeKnown(7) && !source.mayBeKnown(9))
    }

    @Test("reads from the oldest record where an offset does not rise, once all that was read is complete")
    func wentBack() throws {
        let assignment = own()
        let source = try #require(result { register([5, 6], assignment) })
        _ = turn.takeSignals()
        #expect(result { register([7, 6], assignment) } == nil)
        #expect(result { register([7], assignment) } == nil, "nothing more is read")
        for number in 0..<2 as Range<UInt64> {
            partitions.advance(demandedSince: nil, &turn)
            #expect(ended.isEmpty)
            partitions.complete(source.index, assignment, number: source.firstNumber + number, at: turn.now)
        }
        partitions.advance(demandedSince: nil, &turn)
        #expect(ended == [assignment])
        turn.actions.assign = []
        _ = takeOver()
        #expect(turn.actions.assign.map(\.start) == [nil])
        // Its offsets are of another topic's records.
        #expect(turn.actions.assign.map(\.expected) == [nil])
    }

    @Test("takes no record of an assignment that has ended")
    func oldAssignment() {
        let assignment = own()
        partitions.revoked([Fixture.partition], &turn)
        #expect(result { register([5], assignment) } == nil)
    }

    @Test("writes how far records are complete, a second after that changed, and commits it after the ledger has it")
    func checkpoints() throws {
        let assignment = own()
        let source = try #require(result { register([5, 6], assignment) })
        partitions.complete(source.index, assignment, number: source.firstNumber, at: turn.now)
        partitions.checkpointIfDue(&turn)
        #expect(turn.calls.isEmpty)
        turn.wait(.seconds(1))
        partitions.checkpointIfDue(&turn)
        guard case .checkpoint(let checkpoints) = turn.calls.last else { return fail() }
        #expect(checkpoints.map(\.next) == [6])
        #expect(turn.actions.commit.isEmpty)
        turn.endCalls()
        partitions.checkpointed([(source.index, assignment)], [true], &turn)
        #expect(turn.actions.commit == [CommittedOffset(partition: Fixture.partition, offset: 6)])
    }

    @Test("completes no record of an assignment that has ended")
    func completedLate() throws {
        let former = own()
        let source = try #require(result { register([5], former) })
        partitions.loseConnection(&turn)
        let present = takeOver()
        _ = register([5], present)
        partitions.complete(source.index, former, number: source.firstNumber, at: turn.now)
        #expect(!result { partitions.table[source.index].tracker.isComplete(5) })
    }

    @Test("tells that the ledger was set back where it knows less than the checkpoint")
    func setBack() {
        _ = own(PartitionStart(next: 2, highestOrigin: nil, starts: 1, suspect: nil))
        #expect(turn.actions.alerts == [.ledgerSetBack(Fixture.partition, checkpoint: 5, found: 2)])
    }

    @Test("pauses, and is taken over anew, where another worker has taken it")
    func lost() {
        let assignment = own()
        _ = turn.takeSignals()
        turn.actions.fetchCommitted = []
        partitions.loseToAnother(0, &turn)
        #expect(turn.actions.alerts == [.ownershipLost(Fixture.partition)])
        #expect(ended == [assignment])
        partitions.advance(demandedSince: nil, &turn)
        #expect(turn.actions.fetchCommitted.isEmpty)
        turn.wait(.seconds(5))
        partitions.advance(demandedSince: nil, &turn)
        #expect(turn.actions.fetchCommitted == [Fixture.partition])
    }
}
