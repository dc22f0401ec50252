import Ledger

/// Checks that may end workers. Each begins behind a mark in the ledger, one at a time over all partitions and rows.
/// Otherwise, if another check ended the worker, the marked one would be blamed.
///
/// A record that is read alone, or a suspect row, is marked anew for each of its checks. These are the first check,
/// that of Apple's reply, and that of the signature on the way to `retries`. The mark is deleted with the end of a
/// check, because Apple may be away for hours in between. The count of ended workers is deleted when the record or row
/// needs no check any more.
extension WorkerCore {
    /// Continues records and rows that are marked or wait for their mark. Once a stop does not wait for checks any
    /// more, the mark of an unfinished check stays.
    mutating func continueMarked() {
        guard stop.mayCall else { return }
        for index in partitions.table.indices where partitions.table[index].poison.isActive {
            checkNextSuspect(at: index)
        }
        guard !submissions.suspectRows.isEmpty, !isAnyMarked(), !isRowInCheck, !turn.ledgerCalls.isUnderWay(.takeDue)
        else { return }
        submissions.markNextRow(&turn)
    }

    var isRowInCheck: Bool { submissions.suspectRows.isInCheck(in: submissions.flights) }

    /// Whether a record of another partition is marked.
    func isAnyMarked(besides index: Int? = nil) -> Bool {
        partitions.table.indices.contains { $0 != index && partitions.table[$0].poison.isMarked }
    }

    mutating func checkNextSuspect(at index: Int) {
        let mayBegin =
            !isAnyMarked(besides: index) && !isRowInCheck && submissions.suspectRows.isEmpty
            && !turn.ledgerCalls.isUnderWay(.takeDue)
        let last = partitions.table[index].poison.marked
        let (flights, isStopping) = (submissions.flights, !stop.isRunning)
        let step = partitions.table[index].poison.advance(mayBegin: mayBegin, in: flights) { token in
            // It waits for Apple, goes back there from its batch, or left because the worker stops.
            guard flights.contains(token) else { return isStopping }
            let state = flights[token].state
            return state.isUndecided || state == .writing && flights[token].question != nil
        }
        switch step {
        case .wait: return
        case .release:
            let released = partitions.table[index].poison.release(in: submissions.flights)
            submissions.begin(released, highestOrigin: partitions.table[index].highestOrigin, &turn)
        case .mark(let ended, let begins):
            submissions.mark(begins?.token, insteadOf: last?.token)
            partitions.mark(index, ended: ended, begins: begins, &turn)
        }
    }

    /// The mark is written: the record is checked. It may be a redelivery as well.
    mutating func marked(_ token: SubmissionToken, _ isOwned: Bool) {
        guard submissions.flights.isAwaitingMark(token),
            case .record(let index, _, _, _) = submissions.flights[token].source
        else { return }
        guard isOwned else { return partitions.loseToAnother(index, &turn) }
        if submissions.flights[token].awaited != nil { return submissions.checkAwaited(token, &turn) }
        submissions.begin([token], highestOrigin: partitions.table[index].highestOrigin, &turn)
    }

    /// The last mark is gone.
    mutating func unmarked(_ index: Int, _ assignment: AssignmentID) {
        guard partitions.table.isCurrent(assignment, at: index) else { return }
        partitions.table[index].poison.unmarked()
        checkNextSuspect(at: index)
    }
}
