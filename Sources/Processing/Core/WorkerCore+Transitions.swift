import Contract
import Ledger

extension FlightState {
    /// Whether a submission in this state waits for Apple, or may have to.
    var isUndecided: Bool {
        switch self {
        case .loading, .marking, .checking, .lookingUp, .waiting, .asking, .reading, .delayed: true
        case .vacant, .writing, .publishing, .owing: false
        }
    }

    /// Whether its record has not come through its check yet.
    var isBeingRead: Bool {
        switch self {
        case .marking, .loading, .checking: true
        default: false
        }
    }
}

extension WorkerCore {
    /// The one place where a submission's state changes.
    mutating func move(_ token: SubmissionToken, to state: FlightState) {
        let old = flights[token].state
        flights[token].state = state
        guard flights[token].isRecord, old.isUndecided != state.isUndecided else { return }
        undecided += state.isUndecided ? 1 : -1
    }

    /// A submission has its outcome, and everybody was told or will be: its offset may be passed.
    mutating func complete(_ token: SubmissionToken) {
        if case .record(let place, let assignment, let number, _) = flights[token].source,
            partitions.isCurrent(assignment, at: place)
        {
            if partitions[place]?.tracker.complete(number) == true { scheduleNote() }
        }
        leave(token)
    }

    /// A submission leaves without an outcome: whoever owns its partition or its row has it.
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
        case .delayed:
            undelay(token)
            leave(token)
        // What the broker did not take is told by the next owner, who reads it again.
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
