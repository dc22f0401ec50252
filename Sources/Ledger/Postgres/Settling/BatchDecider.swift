import Purchases

/// Goes through a batch with what is known, and adds what the batch itself makes known.
struct BatchDecider {
    /// How a submission's row changes in the end.
    enum Change {
        case write(BatchDecision.Row)
        case extend([EventID])
    }

    private(set) var conclusions: [Conclusion] = []
    private(set) var changes: [ExactKey: Change] = [:]
    private(set) var grants: [BatchDecision.Grant] = []
    private(set) var deliveries: [BatchDecision.Delivery] = []
    private(set) var entries: [BatchDecision.Entry] = []
    private(set) var quarantines: [Quarantine] = []
    private(set) var hasRepeats = false
    private var known: KnownRows
    /// Where in `deliveries` an event is.
    private var places: [EventID: Int] = [:]
    private let now: Timestamp

    init(known: KnownRows, now: Timestamp) {
        self.known = known
        self.now = now
    }

    mutating func settle(_ settlement: Settlement, _ claims: [GrantClaim]) {
        let key = ExactKey(settlement.key)
        let prior = known.submissions[key]
        if prior != nil || settlement.decision == .answerAgain { hasRepeats = true }
        let rules = SettlementRules(settlement, prior: prior)
        let conclusion =
            switch rules.firstStep {
            case .conclude(let conclusion): conclusion
            case .claim: rules.conclusion(of: claims.map { claim($0, settlement) })
            }
        for event in conclusion.again {
            if let place = places[event] {
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
        apply(conclusion.change, of: settlement, key, prior)
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
        if let holder = known.grants[claim.key.text] {
            hasRepeats = true
            return ClaimResult(of: claim, for: claimant, heldBy: holder)
        }
        known.grants[claim.key.text] = GrantHolder(
            userID: claimant.userID, orderID: claimant.orderID, eventID: claim.event.id)
        grants.append(BatchDecision.Grant(claim: claim, claimant: claimant))
        if let order = settlement.delivery {
            places[claim.event.id] = deliveries.count
            deliveries.append(BatchDecision.Delivery(claim: claim, bundleID: claimant.bundleID, order: order))
        } else {
            entries.append(.event(claim.event, telling: claim.key))
        }
        return .created(claim.event.id)
    }

    private mutating func apply(
        _ change: SubmissionChange, of settlement: Settlement, _ key: ExactKey, _ prior: PriorSubmission?
    ) {
        switch change {
        case .keep: break
        case .append(let events):
            guard let prior else { return }
            if case .write(var row) = changes[key] {
                row.content = row.content.with(events: events)
                changes[key] = .write(row)
            } else {
                changes[key] = .extend(events)
            }
            known.submissions[key] = PriorSubmission(
                fingerprint: prior.fingerprint, outcome: prior.outcome, cause: prior.cause, events: events,
                comesDue: prior.comesDue)
        case .write(let content):
            changes[key] = .write(BatchDecision.Row(settlement: settlement, content: content))
            known.submissions[key] = PriorSubmission(
                fingerprint: settlement.fingerprint, outcome: content.outcome,
                cause: content.reason.flatMap { WaitingCause(outcome: content.outcome, word: $0) },
                events: content.events, comesDue: content.waiting != nil)
        }
    }
}

extension SubmissionContent {
    fileprivate func with(events: [EventID]) -> SubmissionContent {
        SubmissionContent(
            outcome: outcome, reason: reason, detail: detail, waiting: waiting, transactionID: transactionID,
            events: events)
    }
}
