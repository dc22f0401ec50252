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

/// Calls to the ledger's second connection that are not answered yet, with what each answer is for.
///
/// The connection takes one after the other. A call without a result is made again until it has one: all of them may be
/// repeated.
struct LedgerCalls {
    /// The purpose of a call, with the values that its answer needs.
    enum Purpose {
        /// Places and assignments, as in the request.
        case takeOver([(place: Int, AssignmentID)])
        case knownOutcomes([SubmissionToken])
        case note([(place: Int, AssignmentID)])
        case mark(SubmissionToken)
        case unmark(place: Int, AssignmentID)
        case lookUp([SubmissionToken])
        case takeDue([DueRequest], bytes: Int)
        case renew([SubmissionToken])
        case markRow(SubmissionToken)
        case giveBack
        case owe([SubmissionToken])
        case takeOutbox([OutboxRequest])
        case report
        case measure

        /// At most one call of most kinds is under way.
        var kind: Kind {
            switch self {
            case .takeOver: .takeOver
            case .knownOutcomes: .knownOutcomes
            case .note: .note
            case .mark, .unmark: .mark
            case .lookUp: .lookUp
            case .takeDue: .takeDue
            case .renew, .markRow: .renew
            case .giveBack: .giveBack
            case .owe: .owe
            case .takeOutbox: .takeOutbox
            case .report: .report
            case .measure: .measure
            }
        }
    }

    enum Kind: Hashable {
        case takeOver, knownOutcomes, note, mark, lookUp, takeDue, renew, giveBack, owe, takeOutbox, report, measure
    }

    private struct Call {
        let request: LedgerRequest
        let purpose: Purpose
        let kind: Kind
        var isSent: Bool
        var hasFailed = false
    }

    private static let backoff = Backoff(base: .milliseconds(100), cap: .seconds(5), jitter: .equal)

    private var calls: [Call] = []
    private var requests: UInt64 = 0
    private var failures = 0
    /// When calls without a result are made again; nil while the ledger answers.
    private(set) var retryAt: Instant?
    /// Since when calls are sent and none is answered: from the first one, or the last answer; nil while none is sent.
    private(set) var unansweredSince: Instant?

    /// Whether a call that had no result is still without one.
    var hasFailed: Bool { calls.contains { $0.hasFailed } }
    var isEmpty: Bool { calls.isEmpty }

    func isUnderWay(_ kind: Kind) -> Bool { calls.contains { $0.kind == kind } }

    /// Makes a call, or keeps it until the ledger answers again.
    mutating func make(
        _ call: LedgerRequest.Call, for purpose: Purpose, at now: Instant, into actions: inout Actions
    ) {
        requests += 1
        let request = LedgerRequest(id: RequestID(rawValue: requests), call: call)
        let isSent = retryAt == nil
        calls.append(Call(request: request, purpose: purpose, kind: purpose.kind, isSent: isSent))
        guard isSent else { return }
        actions.requests.append(request)
        unansweredSince = unansweredSince ?? now
    }

    /// A call has its result.
    /// - Returns: the call's purpose; nil for a dropped call.
    mutating func answered(_ id: RequestID, at now: Instant) -> Purpose? {
        guard let index = calls.firstIndex(where: { $0.request.id == id }) else { return nil }
        let purpose = calls.remove(at: index).purpose
        noteAnswer(at: now)
        if !hasFailed { failures = 0 }
        // The ledger answers again, so calls that wait for a retry are made at once.
        if retryAt != nil { retryAt = Instant(nanoseconds: .min) }
        return purpose
    }

    /// A call has no result; it is made again.
    mutating func failed(_ id: RequestID, at now: Instant, using generator: inout SplitMix64) {
        guard let index = calls.firstIndex(where: { $0.request.id == id }) else { return }
        calls[index].isSent = false
        calls[index].hasFailed = true
        noteAnswer(at: now)
        failures += 1
        retryAt = now + Self.backoff.delay(afterFailures: failures, using: &generator)
    }

    private mutating func noteAnswer(at now: Instant) {
        unansweredSince = calls.contains { $0.isSent } ? now : nil
    }

    /// Calls under ended ownerships are not repeated, and their answers are dropped.
    mutating func forgetOwner() {
        calls.removeAll { call in
            switch call.kind {
            case .note, .mark, .owe: true
            default: false
            }
        }
        if !calls.contains(where: { $0.isSent }) { unansweredSince = nil }
    }

    /// Take-overs without a result are not made again as they are.
    /// - Returns: what they were for.
    mutating func forgetUnsentTakeOvers(
        where isLost: ([(place: Int, AssignmentID)]) -> Bool
    ) -> [[(place: Int, AssignmentID)]] {
        var forgotten: [[(place: Int, AssignmentID)]] = []
        calls.removeAll { call in
            guard !call.isSent, case .takeOver(let taken) = call.purpose, isLost(taken) else { return false }
            forgotten.append(taken)
            return true
        }
        return forgotten
    }

    /// Makes the calls again whose moment has come.
    mutating func advance(to now: Instant, into actions: inout Actions) {
        guard let moment = retryAt, moment <= now else { return }
        retryAt = nil
        for index in calls.indices where !calls[index].isSent {
            calls[index].isSent = true
            actions.requests.append(calls[index].request)
            unansweredSince = unansweredSince ?? now
        }
    }
}
