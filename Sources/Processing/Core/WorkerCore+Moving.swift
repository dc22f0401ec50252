import Contract
import Ledger

extension WorkerCore {
    /// The one place where a submission's state changes.
    mutating func move(_ token: SubmissionToken, to state: FlightState) {
        let old = flights[token].state
        transitions.take(from: old, to: state)
        flights[token].state = state
        if !flights[token].isRecord {
            suspectRows.inFirstCheck += (state == .checking ? 1 : 0) - (old == .checking ? 1 : 0)
        }
        guard flights[token].isRecord else { return }
        if old.isUndecided != state.isUndecided { undecided += state.isUndecided ? 1 : -1 }
        guard old.isAtGate != state.isAtGate else { return }
        recordsAtGates += state.isAtGate ? 1 : -1
        bytesAtGates += state.isAtGate ? flights[token].bytes : -flights[token].bytes
    }

    /// A submission has its outcome, and its events are published or owed. Its offset may be passed.
    mutating func complete(_ token: SubmissionToken) {
        if case .record(let place, let assignment, let number, _) = flights[token].source,
            partitions.isCurrent(assignment, at: place)
        {
            if partitions[place].tracker.complete(number) { scheduleNote() }
        }
        leave(token)
    }

    /// A submission leaves without an outcome. The present owner of its partition or row has it.
    mutating func leave(_ token: SubmissionToken) {
        move(token, to: .vacant)
        limit.release(
            flights[token].isRecord ? .record : .due, bytes: flights[token].bytes, purchases: flights[token].purchases)
        flights.remove(token)
    }

    /// The partition or the lease of a submission is gone. It leaves at once, unless something under way is waited for.
    mutating func orphan(_ token: SubmissionToken) {
        switch flights[token].state {
        case .asking, .publishing: flights[token].isOrphan = true
        case .writing:
            if flights[token].isInBatch { flights[token].isOrphan = true } else { leave(token) }
        case .waiting:
            gates.update(flights[token].gate) { $0.withdraw() }
            leave(token)
        case .repeating, .rechecking, .rewriting, .awaitingRoom:
            undelay(token)
            leave(token)
        // The next owner reads the record again and publishes the events that the broker did not take.
        case .vacant, .loading, .marking, .checking, .lookingUp, .reading, .owing: leave(token)
        }
    }

    /// Takes a submission out of the delay queue's count; its token there is skipped.
    mutating func undelay(_ token: SubmissionToken) {
        guard flights[token].gate >= 0 else { return }
        gates.update(flights[token].gate) { $0.delayed -= 1 }
    }

    /// Orphans every submission of one assignment.
    mutating func orphanAll(of assignment: AssignmentID) {
        for token in flights.tokens {
            if case .record(_, assignment, _, _) = flights[token].source { orphan(token) }
        }
    }
}
