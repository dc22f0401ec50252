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
        guard case .record(let place, let assignment, _, _) = flights[token].source else { return checkedRow == token }
        return partitions.isCurrent(assignment, at: place) && partitions[place].checkedAlone?.token == token
    }

    /// A suspect needs another check than its first.
    mutating func awaitMark(_ token: SubmissionToken, _ work: CheckTask.Work) {
        guard let submission = flights[token].submission else { return orphan(token) }
        move(token, to: .marking)
        flights[token].awaited = work
        switch flights[token].source {
        case .record(let place, _, _, _):
            partitions[place].checkedAgain.append(.init(token: token, offset: submission.origin.offset))
        case .retry: rowsCheckedAgain.append(token)
        case .nobody: return
        }
    }

    private func isAwaitingMark(_ token: SubmissionToken) -> Bool {
        flights.contains(token) && flights[token].state == .marking
    }

    private func isInCheck(_ token: SubmissionToken) -> Bool {
        flights.contains(token) && flights[token].state.isInCheck
    }

    /// Continues what is marked or waits for its mark. Once a stop awaits checks no longer, the mark of one that has not
    /// ended stays.
    mutating func continueMarked(into actions: inout Actions) {
        guard stopping == .running || stopping.isCalling else { return }
        for place in partitions.indices where partitions[place].hasAlone { checkNextAlone(at: place, into: &actions) }
        checkNextRow(into: &actions)
    }

    /// A checker has given its result, and the worker lives.
    mutating func checkHasEnded(_ token: SubmissionToken, _ source: FlightSource, into actions: inout Actions) {
        switch source {
        case .record(let place, let assignment, _, _):
            guard partitions.isCurrent(assignment, at: place), partitions[place].checkedAlone != nil else { return }
            checkNextAlone(at: place, into: &actions)
        case .retry: rowHasEnded(token, into: &actions)
        case .nobody: return
        }
    }

    // MARK: Records

    /// A partition that starts a third time at one offset may hold a record whose check ends workers. So each record is
    /// marked before its check, and the next one waits for it. Records behind those wait until the last mark is gone.
    mutating func checkNextAlone(at place: Int, into actions: inout Actions) {
        guard !partitions[place].isUnmarking else { return }
        let last = partitions[place].checkedAlone
        if let last, isInCheck(last.token) { return }
        if let last { partitions[place].survived = last.offset }
        let mayBegin =
            !isMarked(besides: place) && !isRowInCheck && rowsCheckedAgain.isEmpty
            && !ledgerCalls.isUnderWay(.takeDue)
        let next = mayBegin ? nextAlone(at: place) : nil
        guard last != nil || next != nil else {
            if mayBegin { readFreely(at: place, into: &actions) }
            return
        }
        partitions[place].checkedAlone = next
        let ended = last.flatMap { mayBeCheckedAgain($0.token) ? nil : $0.offset }
        let mark = CheckMark(ownership: partitions[place].ownership, ended: ended, begins: next?.offset)
        if let next {
            ledgerCalls.make(.mark([mark]), for: .mark(next.token), at: now, into: &actions)
        } else {
            partitions[place].isUnmarking = true
            ledgerCalls.make(
                .mark([mark]), for: .unmark(place: place, partitions[place].assignment), at: now, into: &actions)
        }
    }

    /// The next record to be marked: one that needs another check, or the next one that is read alone.
    private mutating func nextAlone(at place: Int) -> OwnedPartition.MarkedRecord? {
        while let next = partitions[place].checkedAgain.popFirst() {
            if isAwaitingMark(next.token) { return next }
        }
        guard let before = partitions[place].readAloneBefore else { return nil }
        while let token = partitions[place].alone.first {
            guard isAwaitingMark(token), let offset = flights[token].record?.origin.offset else {
                _ = partitions[place].alone.popFirst()
                continue
            }
            if offset >= before { return nil }
            _ = partitions[place].alone.popFirst()
            flights[token].isSuspect = true
            return .init(token: token, offset: offset)
        }
        return nil
    }

    /// Whether a record that was checked may need another check. It waits for Apple, goes back there from its batch, or
    /// left because the worker stops.
    private func mayBeCheckedAgain(_ token: SubmissionToken) -> Bool {
        guard flights.contains(token) else { return stopping != .running }
        let state = flights[token].state
        return state.isUndecided || state == .writing && flights[token].question != nil
    }

    /// Whether a record of another partition is marked.
    func isMarked(besides place: Int? = nil) -> Bool {
        partitions.indices.contains { other in
            other != place && (partitions[other].checkedAlone != nil || partitions[other].isUnmarking)
        }
    }

    /// The mark is written: the record is checked. It may be a redelivery as well.
    mutating func marked(_ token: SubmissionToken, _ isOwned: Bool, into actions: inout Actions) {
        guard isAwaitingMark(token), case .record(let place, _, _, _) = flights[token].source else { return }
        guard isOwned else { return loseToAnother(place, into: &actions) }
        if flights[token].awaited != nil { return checkAwaited(token, into: &actions) }
        guard let record = flights[token].record else { return }
        if let highest = partitions[place].highestOrigin, record.origin.offset <= highest {
            move(token, to: .loading)
            ledgerCalls.make(.knownOutcomes([record.origin]), for: .knownOutcomes([token]), at: now, into: &actions)
        } else {
            check(token, .record(record, known: nil), into: &actions)
        }
    }

    private mutating func checkAwaited(_ token: SubmissionToken, into actions: inout Actions) {
        guard let work = flights[token].awaited else { return }
        flights[token].awaited = nil
        check(token, work, into: &actions)
    }

    /// The last mark is gone.
    mutating func unmarked(_ place: Int, _ assignment: AssignmentID, into actions: inout Actions) {
        guard partitions.isCurrent(assignment, at: place) else { return }
        partitions[place].isUnmarking = false
        checkNextAlone(at: place, into: &actions)
    }

    /// Reading one by one is over; the waiting records are read as they came.
    private mutating func readFreely(at place: Int, into actions: inout Actions) {
        guard partitions[place].alone.first != nil else { return }
        partitions[place].readAloneBefore = nil
        let highest = partitions[place].highestOrigin ?? -1
        var loading: [SubmissionToken] = []
        var origins: [Origin] = []
        while let token = partitions[place].alone.popFirst() {
            guard isAwaitingMark(token), let record = flights[token].record else { continue }
            if record.origin.offset <= highest {
                move(token, to: .loading)
                loading.append(token)
                origins.append(record.origin)
            } else {
                check(token, .record(record, known: nil), into: &actions)
            }
        }
        guard !loading.isEmpty else { return }
        ledgerCalls.make(.knownOutcomes(origins), for: .knownOutcomes(loading), at: now, into: &actions)
    }

    // MARK: Rows

    /// Whether a row is in its first check, or a suspect one is marked.
    var isRowInCheck: Bool { dueInCheck > 0 || checkedRow.map { isInCheck($0) } ?? false }

    /// A lease counts its row as taken. Between its checks a suspect one counts no more than before it was taken.
    func renewal(of token: SubmissionToken) -> LeaseRenewal? {
        guard case .retry(let lease) = flights[token].source else { return nil }
        let isBetweenChecks = flights[token].isSuspect && checkedRow != token
        return LeaseRenewal(lease, takings: Int(flights[token].takings) - (isBetweenChecks ? 1 : 0))
    }

    /// A suspect row needs another check: it counts as taken again.
    private mutating func checkNextRow(into actions: inout Actions) {
        guard !rowsCheckedAgain.isEmpty, !isMarked(), !isRowInCheck, !ledgerCalls.isUnderWay(.takeDue) else { return }
        while let token = rowsCheckedAgain.popFirst() {
            guard isAwaitingMark(token) else { continue }
            checkedRow = token
            guard let renewal = renewal(of: token) else { continue }
            return ledgerCalls.make(.renew([renewal]), for: .markRow(token), at: now, into: &actions)
        }
    }

    /// The ledger counts the row as taken: it is checked.
    mutating func markedRow(_ token: SubmissionToken, _ isOurs: Bool, into actions: inout Actions) {
        guard isAwaitingMark(token), checkedRow == token else { return }
        if isOurs { checkAwaited(token, into: &actions) } else { orphan(token) }
    }

    /// The check of a suspect row has ended, and the worker has not: the ledger hears so before another one is taken.
    private mutating func rowHasEnded(_ token: SubmissionToken, into actions: inout Actions) {
        guard checkedRow == token, !isInCheck(token) else { return }
        checkedRow = nil
        guard flights.contains(token), let renewal = renewal(of: token) else { return }
        ledgerCalls.make(.renew([renewal]), for: .renew([token]), at: now, into: &actions)
    }
}
