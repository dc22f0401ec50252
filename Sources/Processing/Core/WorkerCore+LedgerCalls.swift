import Contract
import Ledger
import Scheduling

/// The calls on the ledger's second connection, and the handling of their results.
extension WorkerCore {
    private static let longestSilence: Duration = .seconds(30)

    mutating func makeLedgerCalls(into actions: inout Actions) {
        takeOver(into: &actions)
        makeLookUps(into: &actions)
        makeOwed(into: &actions)
        makeReports(into: &actions)
        if let moment = noteAt, moment <= now { note(into: &actions) }
        measure(into: &actions)
        takeDue(into: &actions)
        takeOutbox(into: &actions)
        renewLeases(into: &actions)
    }

    mutating func ledgerCallEnded(
        _ id: RequestID, _ result: Result<LedgerAnswer, LedgerError>, into actions: inout Actions
    ) {
        switch result {
        case .success(let answer):
            guard let purpose = ledgerCalls.answered(id, at: now) else { return }
            noticeLedgerAnswers(into: &actions)
            answered(purpose, answer, into: &actions)
        case .failure(.unavailable(let detail)): callFailed(id, detail, into: &actions)
        case .failure(.disconnected(let detail)):
            callFailed(id, detail, into: &actions)
            loseConnection(into: &actions)
        case .failure(.unusable(let detail)): stop(for: .unusable(detail: detail))
        }
    }

    private mutating func callFailed(_ id: RequestID, _ detail: String, into actions: inout Actions) {
        ledgerCalls.failed(id, at: now, using: &generator)
        forgetLostTakeOvers()
        noticeLedgerAway(detail, into: &actions)
    }

    mutating func noticeLedgerAway(_ detail: String, into actions: inout Actions) {
        guard ledgerAwaySince == nil else { return }
        ledgerAwaySince = now
        actions.alerts.append(.ledgerUnavailable(detail: detail))
    }

    /// When a call without an answer counts as away; nil while none is under way. A disk that hangs answers no call,
    /// and fails none.
    var silenceMoment: Instant? {
        let starts = [batcher.unansweredSince, ledgerCalls.unansweredSince].compactMap { $0 }
        return starts.min().map { $0 + Self.longestSilence }
    }

    private var isLedgerSilent: Bool { silenceMoment.map { $0 <= now } ?? false }

    mutating func noticeLedgerSilence(into actions: inout Actions) {
        guard isLedgerSilent else { return }
        noticeLedgerAway("A call has had no answer for \(Self.longestSilence.components.seconds) s.", into: &actions)
    }

    /// A full disk or a read-only file still answers questions, so an answer alone ends nothing.
    mutating func noticeLedgerAnswers(into actions: inout Actions) {
        guard let since = ledgerAwaySince, !writesAreAway, !ledgerCalls.hasFailed, !isLedgerSilent else { return }
        ledgerAwaySince = nil
        actions.alerts.append(.ledgerAnswersAgain(after: now - since))
    }

    private mutating func answered(
        _ purpose: LedgerCalls.Purpose, _ answer: LedgerAnswer, into actions: inout Actions
    ) {
        switch (purpose, answer) {
        case (.takeOver(let taken), .takenOver(let results)): takenOver(taken, results, into: &actions)
        case (.knownOutcomes(let tokens), .knownOutcomes(let outcomes)):
            outcomesLoaded(tokens, outcomes, into: &actions)
        case (.note(let places), .noted(let stillOwned)): noted(places, stillOwned, into: &actions)
        case (.mark(let token), .marked(let stillOwned)): marked(token, stillOwned.first ?? false, into: &actions)
        case (.unmark(let place, let assignment), .marked): unmarked(place, assignment, into: &actions)
        case (.lookUp(let tokens), .lookedUp(let grants)): lookedUp(tokens, grants)
        case (.takeDue(let requests, let bytes), .due(let rows)):
            dueTaken(requests, bytes: bytes, rows, into: &actions)
        case (.renew(let tokens), .renewed(let isOurs)): renewed(tokens, isOurs)
        case (.markRow(let token), .renewed(let isOurs)): markedRow(token, isOurs.first ?? false, into: &actions)
        case (.owe(let tokens), .owed(let isOwed)): owedEnded(tokens, isOwed, into: &actions)
        case (.takeOutbox(let requests), .outbox(let items)): outboxTaken(requests, items, into: &actions)
        case (.measure, .measured(let measure)): measured(measure, into: &actions)
        // Reports and leases that are given back need no more.
        default: return
        }
    }
}
