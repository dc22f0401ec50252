public import Purchases

/// A submission's row as it stood before a settlement of the same key.
public struct PriorSubmission: Hashable, Sendable {
    public let fingerprint: String
    public let outcome: RecordedOutcome
    /// Why it waits; nil unless it does.
    public let cause: WaitingCause?
    /// The events that answered it. A waiting row has some only if its id was reused after an answer.
    public let events: [EventID]
    /// Whether its evidence is kept, so that it comes due by itself.
    public let comesDue: Bool

    /// A row as read inside the settling transaction.
    public init(
        fingerprint: String, outcome: RecordedOutcome, cause: WaitingCause?, events: [EventID], comesDue: Bool = false
    ) {
        self.fingerprint = fingerprint
        self.outcome = outcome
        self.cause = cause
        self.events = events
        self.comesDue = comesDue
    }
}

/// What a settlement of a known or unknown submission means. Pure: every ledger asks these rules and only stores.
///
/// An answer, once given, stands: a submission has granted events or one failed event, and repeats are given the
/// same. Only a reused id (same key, another fingerprint) can add to it, because a purchase that was paid is granted
/// under whatever name it comes; it never adds a second kind of answer. While a submission waits, nothing that comes under
/// its id but is not it takes its place: that would erase the evidence of a paid purchase.
public struct SettlementRules: Sendable {
    /// What to do first.
    public enum Step: Hashable, Sendable {
        /// Claim the decision's purchases in order, then ask ``SettlementRules/conclusion(of:)``.
        case claim
        case conclude(Conclusion)
    }

    public let settlement: Settlement
    public let prior: PriorSubmission?

    /// The rules for one settlement.
    ///
    /// - Parameter prior: the row of the same key, read in the transaction that will write.
    public init(_ settlement: Settlement, prior: PriorSubmission?) {
        self.settlement = settlement
        self.prior = prior
    }

    /// Decides all that can be decided without touching grants.
    ///
    /// Asking for the recorded answer where none is recorded is a fault of the caller's, and so is a grant of
    /// nothing. Neither may lose the submission: it becomes a held row without evidence, whose origin says where
    /// its record is. A row that waits already stays as it is, evidence included.
    public var firstStep: Step {
        if let prior, prior.outcome.isFinal,
            prior.fingerprint == settlement.fingerprint || settlement.decision == .answerAgain
        {
            return .conclude(answerAgain(prior))
        }
        switch settlement.decision {
        case .grant(let purchases, _):
            return purchases.isEmpty ? .conclude(undecided("A grant of no purchases.")) : .claim
        case .fail(let rejection):
            return .conclude(failure(rejection))
        case .wait(let waiting):
            return .conclude(wait(waiting))
        case .answerAgain:
            return .conclude(undecided("An answer was to be repeated that the ledger does not have."))
        }
    }

    /// Adds a submission's claims up to one outcome: granted if any is the user's, else failed as the first one was.
    ///
    /// - Parameter results: one per claim, in their order.
    public func conclusion(of results: [ClaimResult]) -> Conclusion {
        var created = 0
        var events: [EventID] = []
        var again: [EventID] = []
        var firstRejection: Rejection?
        for result in results {
            switch result {
            case .created(let event):
                created += 1
                events.append(event)
            case .answered(let event):
                events.append(event)
                again.append(event)
            case .refused(let rejection):
                firstRejection = firstRejection ?? rejection
            }
        }
        guard events.isEmpty else { return grant(events, created: created, again: again) }
        guard let firstRejection else { return undecided("A grant of no purchases.") }
        return failure(firstRejection)
    }

    private func grant(_ events: [EventID], created: Int, again: [EventID]) -> Conclusion {
        // A failed event that went out under a reused id stays in the outbox, but is no answer to a grant.
        let answered = (prior?.events ?? []).filter { $0 != failedEvent }
        let all = answered + events.filter { !answered.contains($0) }
        let change: SubmissionChange =
            if prior?.outcome == .granted || waitingOther != nil {
                all == answered ? .keep : .append(all)
            } else {
                .write(SubmissionContent(outcome: .granted, events: all))
            }
        return Conclusion(
            outcome: .granted(events: events, created: created), change: change, again: again, warning: reuse)
    }

    private func failure(_ rejection: Rejection) -> Conclusion {
        if let waiting = waitingOther { return stillWaiting(waiting) }
        if let prior, !prior.events.isEmpty {
            return answerAgain(prior, insteadOf: rejection)
        }
        return Conclusion(
            outcome: .failed(event: failedEvent, reason: rejection.reason),
            change: .write(
                SubmissionContent(
                    outcome: .failed, reason: rejection.reason.rawValue, detail: rejection.detail,
                    transactionID: rejection.transactionID, events: [failedEvent])),
            failure: rejection)
    }

    private func wait(_ waiting: Waiting) -> Conclusion {
        if let waiting = waitingOther { return stillWaiting(waiting) }
        return Conclusion(
            outcome: .waiting(waiting.cause),
            change: .write(
                SubmissionContent(
                    outcome: waiting.cause.outcome, reason: waiting.cause.word, detail: waiting.detail,
                    waiting: waiting, transactionID: waiting.submission.transactionID, events: prior?.events ?? [])),
            warning: reuse)
    }

    private func answerAgain(_ prior: PriorSubmission, insteadOf rejection: Rejection? = nil) -> Conclusion {
        // Only a row held after its answer needs writing: it goes back to the outcome that its events tell of.
        let change: SubmissionChange =
            if prior.outcome.isFinal {
                .keep
            } else if prior.events.contains(failedEvent) {
                .write(
                    SubmissionContent(
                        outcome: .failed, reason: rejection?.reason.rawValue, detail: rejection?.detail,
                        transactionID: rejection?.transactionID, events: prior.events))
            } else {
                .write(SubmissionContent(outcome: .granted, events: prior.events))
            }
        return Conclusion(
            outcome: .answeredAgain(events: prior.events), change: change, again: prior.events, warning: reuse)
    }

    private func undecided(_ detail: String) -> Conclusion {
        if let prior, !prior.outcome.isFinal {
            // What asks for the answer of a submission that waits is told that it waits.
            return Conclusion(
                outcome: .waiting(prior.cause ?? .held(.incompleteAnswer)), change: .keep,
                warning: settlement.decision == .answerAgain ? nil : .undecided)
        }
        if let prior {
            return answerAgain(prior)
        }
        return Conclusion(
            outcome: .waiting(.held(.incompleteAnswer)),
            change: .write(
                SubmissionContent(
                    outcome: .held, reason: HoldCause.incompleteAnswer.rawValue, detail: detail, events: [])),
            warning: .undecided)
    }

    private var failedEvent: EventID {
        FailedEvent.id(bundleID: settlement.claimant.bundleID, submissionID: settlement.claimant.submissionID)
    }

    private func stillWaiting(_ cause: WaitingCause) -> Conclusion {
        Conclusion(outcome: .waiting(cause), change: .keep, warning: .reusedID)
    }

    /// What the row waits for if it waits for another submission than this one. A message that is malformed is another one
    /// whatever its fingerprint: what is malformed need not be part of that, and what waits was well formed.
    private var waitingOther: WaitingCause? {
        guard let prior, prior.comesDue, let cause = prior.cause else { return nil }
        if case .fail(let rejection) = settlement.decision, rejection.reason == .malformedSubmission { return cause }
        return prior.fingerprint == settlement.fingerprint ? nil : cause
    }

    private var reuse: Conclusion.Warning? {
        guard let prior, prior.outcome.isFinal || waitingOther != nil, prior.fingerprint != settlement.fingerprint
        else { return nil }
        return .reusedID
    }
}
