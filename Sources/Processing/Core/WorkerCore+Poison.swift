import Contract
import Ledger

/// Checks that may be what ends workers: each begins behind a mark in the ledger, one at a time over all partitions and
/// rows. Otherwise, if another check ended the worker, the marked one would be blamed.
///
/// A record that is read alone, or a suspect row, is marked anew for each of its checks: the first one, the one of
/// Apple's answer, and the one of its signature on the way to `retries`. The mark goes with the end of a check, because
/// Apple may be away for hours in between. The count of ended workers goes when it needs no check any more.
extension WorkerCore {
    /// Whether the ledger has the mark of a suspect, so that it may be checked.
    func isMarked(_ token: SubmissionToken) -> Bool {
        guard case .record(let place, let assignment, _, _) = flights[token].source else {
            return suspectRows.marked == token
        }
        return partitions.isCurrent(assignment, at: place) && partitions[place].poison.marked?.token == token
    }

    /// A suspect needs another check than its first.
    mutating func awaitMark(_ token: SubmissionToken, _ work: CheckTask.Work) {
        guard let submission = flights[token].submission else { return orphan(token) }
        move(token, to: .marking)
        flights[token].awaited = work
        switch flights[token].source {
        case .record(let place, _, _, _): partitions[place].poison.checkAgain(token, at: submission.origin.offset)
        case .retry: suspectRows.checkAgain(token)
        case .nobody: return
        }
    }

    /// Continues what is marked or waits for its mark. Once a stop awaits checks no longer, the mark of one that has not
    /// ended stays.
    mutating func continueMarked(into actions: inout Actions) {
        guard stopping == .running || stopping.isCalling else { return }
        for place in partitions.indices where partitions[place].poison.isActive {
            checkNextSuspect(at: place, into: &actions)
        }
        checkNextRow(into: &actions)
    }

    /// A checker has given its result, and the worker lives.
    mutating func checkHasEnded(_ token: SubmissionToken, _ source: FlightSource, into actions: inout Actions) {
        switch source {
        case .record(let place, let assignment, _, _):
            guard partitions.isCurrent(assignment, at: place), partitions[place].poison.marked != nil else { return }
            checkNextSuspect(at: place, into: &actions)
        case .retry: rowHasEnded(token, into: &actions)
        case .nobody: return
        }
    }

    // MARK: Records

    /// Whether a record of another partition is marked.
    func isAnyMarked(besides place: Int? = nil) -> Bool {
        partitions.indices.contains { $0 != place && partitions[$0].poison.isMarked }
    }

    mutating func checkNextSuspect(at place: Int, into actions: inout Actions) {
        let mayBegin =
            !isAnyMarked(besides: place) && !suspectRows.isInCheck(in: flights) && suspectRows.isEmpty
            && !ledgerCalls.isUnderWay(.takeDue)
        let (flights, isStopping) = (flights, stopping != .running)
        let step = partitions[place].poison.advance(mayBegin: mayBegin, in: flights) { token in
            // It waits for Apple, goes back there from its batch, or left because the worker stops.
            guard flights.contains(token) else { return isStopping }
            let state = flights[token].state
            return state.isUndecided || state == .writing && flights[token].question != nil
        }
        switch step {
        case .wait: return
        case .release:
            begin(partitions[place].poison.release(in: flights), at: place, into: &actions)
        case .mark(let ended, let begins): mark(place, ended: ended, begins: begins, into: &actions)
        }
    }

    mutating func mark(_ place: Int, ended: Int64?, begins: PoisonWatch.Suspect?, into actions: inout Actions) {
        if let begins { flights[begins.token].isSuspect = true }
        let mark = CheckMark(ownership: partitions[place].ownership, ended: ended, begins: begins?.offset)
        let purpose = begins.map { LedgerCalls.Purpose.mark($0.token) }
        ledgerCalls.make(
            .mark([mark]), for: purpose ?? .unmark(place: place, partitions[place].assignment), at: now, into: &actions)
    }

    /// The mark is written: the record is checked. It may be a redelivery as well.
    mutating func marked(_ token: SubmissionToken, _ isOwned: Bool, into actions: inout Actions) {
        guard flights.isAwaitingMark(token), case .record(let place, _, _, _) = flights[token].source else { return }
        guard isOwned else { return loseToAnother(place, into: &actions) }
        if flights[token].awaited != nil { return checkAwaited(token, into: &actions) }
        begin([token], at: place, into: &actions)
    }

    private mutating func checkAwaited(_ token: SubmissionToken, into actions: inout Actions) {
        guard let work = flights[token].awaited else { return }
        flights[token].awaited = nil
        check(token, work, into: &actions)
    }

    /// The last mark is gone.
    mutating func unmarked(_ place: Int, _ assignment: AssignmentID, into actions: inout Actions) {
        guard partitions.isCurrent(assignment, at: place) else { return }
        partitions[place].poison.unmarked()
        checkNextSuspect(at: place, into: &actions)
    }

    // MARK: Rows

    /// A lease counts its row as taken. Between its checks a suspect one counts no more than before it was taken.
    func renewal(of token: SubmissionToken) -> LeaseRenewal? {
        guard case .retry(let lease) = flights[token].source else { return nil }
        let isBetweenChecks = flights[token].isSuspect && suspectRows.marked != token
        return LeaseRenewal(lease, takings: Int(flights[token].takings) - (isBetweenChecks ? 1 : 0))
    }

    /// A suspect row needs another check: it counts as taken again.
    private mutating func checkNextRow(into actions: inout Actions) {
        guard !suspectRows.isEmpty, !isAnyMarked(), !suspectRows.isInCheck(in: flights),
            !ledgerCalls.isUnderWay(.takeDue), let token = suspectRows.markNext(in: flights),
            let renewal = renewal(of: token)
        else { return }
        ledgerCalls.make(.renew([renewal]), for: .markRow(token), at: now, into: &actions)
    }

    /// The ledger counts the row as taken: it is checked.
    mutating func markedRow(_ token: SubmissionToken, _ isOurs: Bool, into actions: inout Actions) {
        guard flights.isAwaitingMark(token), suspectRows.marked == token else { return }
        if isOurs { checkAwaited(token, into: &actions) } else { orphan(token) }
    }

    /// The check of a suspect row has ended, and the worker has not: the ledger hears so before another one is taken.
    private mutating func rowHasEnded(_ token: SubmissionToken, into actions: inout Actions) {
        guard suspectRows.ended(token, in: flights), flights.contains(token), let renewal = renewal(of: token)
        else { return }
        ledgerCalls.make(.renew([renewal]), for: .renew([token]), at: now, into: &actions)
    }
}
