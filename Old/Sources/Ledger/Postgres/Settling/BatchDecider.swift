import Purchases

/// Goes through a batch with what is known, and adds what the batch itself makes known.
struct BatchDecider {
    /// How a submission's row changes in the end.
    enum Change {
        case write(BatchDecision.Row)
        /// What it is then, of which only the events are new.
        case extend(SubmissionKey, PriorSubmission)
    }

    private(set) var conclusions: [Conclusion] = []
    /// One per submission whose row changes.
    private(set) var changes: [Change] = []
    private(set) var grants: [BatchDecision.Grant] = []
    private(set) var deliveries: [BatchDecision.Delivery] = []
    private(set) var entries: [BatchDecision.Entry] = []
    private(set) var quarantines: [Quarantine] = []
    private(set) var hasRepeats = false
    private var known: KnownRows
    /// Whom the batch grants each transaction to.
    private var granted: [GrantClaim.Transaction: GrantHolder] = [:]
    /// Where in `changes` a submission is.
    private var changed: [SubmissionKey: Int] = [:]
    /// Where in `deliveries` an event is.
    private var opened: [EventID: Int] = [:]
    private let now: Timestamp

    /// - Parameter count: how many settlements to expect.
    init(known: KnownRows, now: Timestamp, count: Int) {
        self.known = known
        self.now = now
        conclusions.reserveCapacity(count)
        changes.reserveCapacity(count)
        changed.reserveCapacity(count)
        grants.reserveCapacity(count)
        entries.reserveCapacity(count)
        granted.reserveCapacity(count)
    }

    mutating func settle(_ settlement: Settlement, _ claims: [GrantClaim]) {
        let key = settlement.key
        let place = changed[key]
        let prior = place.map(prior(at:)) ?? known.submissions[key]
        if prior != nil || settlement.decision == .answerAgain { hasRepeats = true }
        let rules = SettlementRules(settlement, prior: prior)
        let conclusion =
            switch rules.firstStep {
            case .conclude(let conclusion): conclusion
            case .claim: rules.conclusion(of: claims.map { claim($0, settlement) })
            }
        for event in conclusion.again {
            if let place = opened[event] {
                deliveries[place].joined += 1
            } else {
                entries.append(.copy(of: event))
            }
        }
        if let rejection = conclusion.failure {
            let event = FailedEvent.event(
                of: settlement.claimant, rejection: rejection, failedAt: now, attempts: settlement.attempts)
            entries.append(.event(event, telling: nil))
        }
        if let change = change(conclusion.change, of: settlement, key, prior, at: place) {
            if let place {
                changes[place] = change
            } else {
                changed[key] = changes.count
                changes.append(change)
            }
        }
        conclusions.append(conclusion)
    }

    mutating func quarantine(_ quarantine: Quarantine) {
        guard known.quarantines.insert(quarantine.event.id).inserted else {
            hasRepeats = true
            return
        }
        quarantines.append(quarantine)
        entries.append(.event(quarantine.event, telling: nil))
    }

    private mutating func claim(_ claim: GrantClaim, _ settlement: Settlement) -> ClaimResult {
        let claimant = settlement.claimant
        if let holder = known.grants[claim.key.text] ?? granted[claim.transaction] {
            hasRepeats = true
            return ClaimResult(of: claim, for: claimant, heldBy: holder)
        }
        let holder = GrantHolder(userID: claimant.userID, orderID: claimant.orderID, eventID: claim.event.id)
        known.grants[claim.key.text] = holder
        granted[claim.transaction] = holder
        grants.append(BatchDecision.Grant(claim: claim, claimant: claimant))
        if let order = settlement.delivery {
            opened[claim.event.id] = deliveries.count
            deliveries.append(BatchDecision.Delivery(claim: claim, bundleID: claimant.bundleID, order: order))
        } else {
            entries.append(.event(claim.event, telling: claim.key))
        }
        return .created(claim.event.id)
    }

    /// The row as it is after what the batch has done to it.
    private func prior(at place: Int) -> PriorSubmission {
        switch changes[place] {
        case .write(let row): row.asPrior
        case .extend(_, let prior): prior
        }
    }

    /// What a row's change comes to with what the batch has done to it before; nil for a row that stays as it is.
    private func change(
        _ change: SubmissionChange, of settlement: Settlement, _ key: SubmissionKey, _ prior: PriorSubmission?,
        at place: Int?
    ) -> Change? {
        switch change {
        case .keep: return nil
        case .append(let events):
            guard let prior else { return nil }
            guard let place, case .write(let row) = changes[place] else {
                return .extend(key, prior.with(events: events))
            }
            return .write(BatchDecision.Row(settlement: row.settlement, content: row.content.with(events: events)))
        case .write(let content):
            return .write(BatchDecision.Row(settlement: settlement, content: content))
        }
    }
}

extension BatchDecision.Row {
    /// What it is for a later settlement of the same submission.
    fileprivate var asPrior: PriorSubmission {
        PriorSubmission(
            fingerprint: settlement.fingerprint, outcome: content.outcome,
            cause: content.reason.flatMap { WaitingCause(outcome: content.outcome, word: $0) },
            events: content.events, comesDue: content.waiting != nil)
    }
}

extension PriorSubmission {
    fileprivate func with(events: [EventID]) -> PriorSubmission {
        PriorSubmission(
            fingerprint: fingerprint, outcome: outcome, cause: cause, events: events, comesDue: comesDue)
    }
}

extension SubmissionContent {
    fileprivate func with(events: [EventID]) -> SubmissionContent {
        SubmissionContent(
            outcome: outcome, reason: reason, detail: detail, waiting: waiting, transactionID: transactionID,
            events: events)
    }
}
