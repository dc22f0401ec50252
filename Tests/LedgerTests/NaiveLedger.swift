import Ledger
import Purchases

/// What a ledger should do, told without a database and without the ledger's own rules.
struct NaiveLedger {
    struct Grant: Equatable {
        let user: UserID
        let order: OrderID?
    }

    struct Submission: Equatable {
        var fingerprint: String
        var isHeld: Bool
        var cause: WaitingCause?
        var granted: [EventID]
        var hasFailed: Bool
        /// Whether it waits with its evidence.
        var comesDue = false
    }

    private(set) var grants: [String: Grant] = [:]
    private(set) var submissions: [SubmissionID: Submission] = [:]
    /// Copies asked for, by event.
    private(set) var copies: [EventID: Int64] = [:]

    mutating func settle(_ settlement: Settlement) -> SettledOutcome {
        let id = settlement.claimant.submissionID
        let old = submissions[id]
        if let old, !old.isHeld, old.fingerprint == settlement.fingerprint || settlement.decision == .answerAgain {
            return repeatAnswer(old, id)
        }
        if let old, old.comesDue, let cause = old.cause,
            old.fingerprint != settlement.fingerprint || Self.isMalformed(settlement)
        {
            guard case .grant(let purchases, _) = settlement.decision else { return .waiting(cause) }
            return grantBeside(old, purchases, settlement, cause)
        }
        switch settlement.decision {
        case .grant(let purchases, _): return grant(purchases, settlement, old)
        case .fail(let rejection): return fail(rejection.reason, settlement, old)
        case .wait(let waiting): return hold(waiting.cause, settlement, old, comesDue: true)
        case .answerAgain:
            if let old { return .waiting(old.cause ?? .held(.incompleteAnswer)) }
            return hold(.held(.incompleteAnswer), settlement, nil)
        }
    }

    private static func isMalformed(_ settlement: Settlement) -> Bool {
        guard case .fail(let rejection) = settlement.decision else { return false }
        return rejection.reason == .malformedSubmission
    }

    /// What waits stays as it is, but for the events that were added to its answer.
    private mutating func grantBeside(
        _ old: Submission, _ purchases: [GrantablePurchase], _ settlement: Settlement, _ cause: WaitingCause
    ) -> SettledOutcome {
        let (events, created, _) = claim(purchases, settlement.claimant)
        guard !events.isEmpty else { return .waiting(cause) }
        var new = old
        new.hasFailed = false
        for event in events where !new.granted.contains(event) { new.granted.append(event) }
        submissions[settlement.claimant.submissionID] = new
        return .granted(events: events, created: created)
    }

    private mutating func grant(
        _ purchases: [GrantablePurchase], _ settlement: Settlement, _ old: Submission?
    ) -> SettledOutcome {
        let (events, created, refusal) = claim(purchases, settlement.claimant)
        if events.isEmpty { return fail(refusal ?? .unknownApp, settlement, old) }
        var new = old ?? Submission(fingerprint: "", isHeld: false, cause: nil, granted: [], hasFailed: false)
        // A row that is granted already keeps the first submission's fingerprint; any other becomes this one's.
        if old == nil || new.isHeld || new.hasFailed { new.fingerprint = settlement.fingerprint }
        new.isHeld = false
        new.comesDue = false
        new.hasFailed = false
        for event in events where !new.granted.contains(event) { new.granted.append(event) }
        submissions[settlement.claimant.submissionID] = new
        return .granted(events: events, created: created)
    }

    private mutating func claim(
        _ purchases: [GrantablePurchase], _ claim: Claimant
    ) -> (events: [EventID], created: Int, refusal: FailureReason?) {
        var events: [EventID] = []
        var created = 0
        var refusal: FailureReason?
        var seen: Set<String> = []
        for purchase in purchases where seen.insert(Self.name(purchase)).inserted {
            let name = Self.name(purchase)
            let event = Self.event(name)
            if let owner = grants[name] {
                if owner.user != claim.userID {
                    refusal = refusal ?? .ownedByAnotherUser
                } else if let theirs = owner.order, let ours = claim.orderID, theirs != ours {
                    refusal = refusal ?? .grantedToAnotherOrder
                } else {
                    copies[event, default: 0] += 1
                    events.append(event)
                }
            } else {
                grants[name] = Grant(user: claim.userID, order: claim.orderID)
                copies[event] = 1
                events.append(event)
                created += 1
            }
        }
        return (events, created, refusal)
    }

    private mutating func fail(
        _ reason: FailureReason, _ settlement: Settlement, _ old: Submission?
    ) -> SettledOutcome {
        let id = settlement.claimant.submissionID
        if var old, old.hasFailed || !old.granted.isEmpty {
            if old.isHeld {
                old.isHeld = false
                old.comesDue = false
                old.fingerprint = settlement.fingerprint
                submissions[id] = old
            }
            return repeatAnswer(old, id)
        }
        submissions[id] = Submission(
            fingerprint: settlement.fingerprint, isHeld: false, cause: nil, granted: [], hasFailed: true)
        copies[Self.failed(id)] = 1
        return .failed(event: Self.failed(id), reason: reason)
    }

    private mutating func hold(
        _ cause: WaitingCause, _ settlement: Settlement, _ old: Submission?, comesDue: Bool = false
    ) -> SettledOutcome {
        submissions[settlement.claimant.submissionID] = Submission(
            fingerprint: settlement.fingerprint, isHeld: true, cause: cause, granted: old?.granted ?? [],
            hasFailed: old?.hasFailed ?? false, comesDue: comesDue)
        return .waiting(cause)
    }

    private mutating func repeatAnswer(_ submission: Submission, _ id: SubmissionID) -> SettledOutcome {
        let events = Self.answers(submission, id)
        for event in events { copies[event, default: 0] += 1 }
        return .answeredAgain(events: events)
    }

    static func answers(_ submission: Submission, _ id: SubmissionID) -> [EventID] {
        submission.hasFailed ? [failed(id)] : submission.granted
    }

    static func name(_ granted: GrantablePurchase) -> String {
        let purchase = granted.purchase
        let world = purchase.environment == .production ? "production:" : "sandbox:"
        if granted.type == .consumable { return world + "t:" + purchase.transactionID.rawValue }
        if granted.type != .autoRenewable { return world + "t:" + purchase.originalTransactionID.rawValue }
        if let item = purchase.webOrderLineItemID { return world + "w:" + item }
        return world + "p:" + purchase.originalTransactionID.rawValue + ":1790000000000"
    }

    private static func event(_ name: String) -> EventID {
        GrantedEvent.id(of: GrantID(NameBasedUUID.text(namespace: NameBasedUUID.grants, name: name)))
    }

    private static func failed(_ id: SubmissionID) -> EventID {
        FailedEvent.id(bundleID: "com.example.game", submissionID: id)
    }
}
