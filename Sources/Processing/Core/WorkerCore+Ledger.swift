import Contract
import Ledger
import Scheduling

/// The ledger's second connection: which calls are made when, and what follows from their ends.
extension WorkerCore {
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
            guard let (purpose, awaySince) = ledgerCalls.answered(id) else { return }
            if let awaySince { actions.alerts.append(.ledgerAnswersAgain(after: now - awaySince)) }
            answered(purpose, answer, into: &actions)
        case .failure(.unavailable(let detail)): callFailed(id, detail, into: &actions)
        case .failure(.disconnected(let detail)):
            callFailed(id, detail, into: &actions)
            loseConnection(into: &actions)
        case .failure(.unusable(let detail)): stop(for: .unusable(detail: detail))
        }
    }

    private mutating func callFailed(_ id: RequestID, _ detail: String, into actions: inout Actions) {
        guard ledgerCalls.failed(id, at: now, using: &generator) else { return }
        actions.alerts.append(.ledgerUnavailable(detail: detail))
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
        case (.lookUp(let tokens), .lookedUp(let grants)): lookedUp(tokens, grants)
        case (.takeDue(let requests, let bytes), .due(let rows)):
            dueTaken(requests, bytes: bytes, rows, into: &actions)
        case (.renew(let tokens), .renewed(let isOurs)): renewed(tokens, isOurs)
        case (.owe(let tokens), .owed(let isOwed)): owedEnded(tokens, isOwed)
        case (.takeOutbox(let requests), .outbox(let items)): outboxTaken(requests, items, into: &actions)
        case (.measure, .measured(let measure)): measured(measure, into: &actions)
        // Reports and leases that are given back need no more.
        default: return
        }
    }
}
