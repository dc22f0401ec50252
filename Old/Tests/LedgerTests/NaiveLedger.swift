import Ledger
import Purchases

/// What a ledger should do, told without a database and without the ledger's own rules: here what settling does to
/// submissions and grants.
struct NaiveLedger {
    struct Grant: Equatable {
        let user: UserID
        let order: OrderID?
    }

    /// When something is due, and whose it is until then.
    struct Place: Equatable {
        var dueAt: Timestamp
        var worker: WorkerID?
    }

    struct Submission {
        var fingerprint: String
        var claimant: Claimant
        var attempts: Int
        /// Nil unless it waits.
        var cause: WaitingCause?
        /// Nil unless it waits with its evidence.
        var place: Place?
        var granted: [EventID] = []
        var hasFailed = false

        /// The row that a settlement writes, with what was answered before.
        init(_ settlement: Settlement, after old: Submission?) {
            fingerprint = settlement.fingerprint
            claimant = settlement.claimant
            attempts = settlement.attempts
            granted = old?.granted ?? []
            hasFailed = old?.hasFailed ?? false
        }

        var outcome: RecordedOutcome { cause?.outcome ?? (hasFailed ? .failed : .granted) }
        var answers: [EventID] {
            hasFailed ? [NaiveLedger.failed(claimant.bundleID, claimant.submissionID)] : granted
        }
    }

    /// What a batch came to: as ``SettleResult``, events by their ids.
    struct Settled: Equatable {
        var outcomes: [SettledOutcome]
        var added: [NaiveOutbox.Entry]?
        var opened: [EventID]
    }

    private(set) var grants: [String: Grant] = [:]
    /// The name under which a transaction was granted.
    private var names: [String: String] = [:]
    var submissions: [SubmissionKey: Submission] = [:]
    var outbox = NaiveOutbox()
    /// Deliveries that the batch opened for a worker.
    private var opened: [EventID] = []

    mutating func settle(_ batch: [Settlement], quarantines: [Quarantine] = [], now: Timestamp) -> Settled {
        opened = []
        let before = outbox.lastSequence
        let outcomes = batch.map { settle($0, now) }
        for quarantine in quarantines { outbox.quarantine(quarantine.event.id) }
        return Settled(outcomes: outcomes, added: outbox.added(after: before), opened: opened)
    }

    private mutating func settle(_ settlement: Settlement, _ now: Timestamp) -> SettledOutcome {
        let old = submissions[settlement.key]
        if let old, old.cause == nil, old.fingerprint == settlement.fingerprint || Self.isQuestion(settlement) {
            return answerAgain(old)
        }
        if let old, let cause = old.cause, Self.isQuestion(settlement) { return .waiting(cause) }
        if let old, old.place != nil, let cause = old.cause,
            old.fingerprint != settlement.fingerprint || Self.isMalformed(settlement)
        {
            guard case .grant(let purchases, _) = settlement.decision else { return .waiting(cause) }
            return grantBeside(old, purchases, settlement, cause, now)
        }
        switch settlement.decision {
        case .grant(let purchases, _) where !purchases.isEmpty: return grant(purchases, settlement, old, now)
        case .fail(let rejection): return fail(rejection.reason, settlement, old)
        case .wait(let waiting):
            return wait(
                waiting.cause, settlement, old, Place(dueAt: now.advanced(by: waiting.delay), worker: nil))
        case .answerAgain, .grant: return wait(.held(.incompleteAnswer), settlement, old, nil)
        }
    }

    /// A grant of nothing decides as little as the request for an answer.
    private static func isQuestion(_ settlement: Settlement) -> Bool {
        if case .grant(let purchases, _) = settlement.decision { return purchases.isEmpty }
        return settlement.decision == .answerAgain
    }

    private static func isMalformed(_ settlement: Settlement) -> Bool {
        guard case .fail(let rejection) = settlement.decision else { return false }
        return rejection.reason == .malformedSubmission
    }

    /// What waits stays as it is, but for the events that were added to its answer.
    private mutating func grantBeside(
        _ old: Submission, _ purchases: [GrantablePurchase], _ settlement: Settlement, _ cause: WaitingCause,
        _ now: Timestamp
    ) -> SettledOutcome {
        let (events, created, _) = claim(purchases, settlement, now)
        guard !events.isEmpty else { return .waiting(cause) }
        var new = old
        new.hasFailed = false
        for event in events where !new.granted.contains(event) { new.granted.append(event) }
        submissions[settlement.key] = new
        return .granted(events: events, created: created)
    }

    private mutating func grant(
        _ purchases: [GrantablePurchase], _ settlement: Settlement, _ old: Submission?, _ now: Timestamp
    ) -> SettledOutcome {
        let (events, created, refusal) = claim(purchases, settlement, now)
        if events.isEmpty { return fail(refusal ?? .unknownApp, settlement, old) }
        // A row that is granted already stays the first submission's; any other becomes this one's.
        var new = Submission(settlement, after: old)
        if let old, old.outcome == .granted { new = old }
        new.hasFailed = false
        for event in events where !new.granted.contains(event) { new.granted.append(event) }
        submissions[settlement.key] = new
        return .granted(events: events, created: created)
    }

    private mutating func claim(
        _ purchases: [GrantablePurchase], _ settlement: Settlement, _ now: Timestamp
    ) -> (events: [EventID], created: Int, refusal: FailureReason?) {
        let claim = settlement.claimant
        var events: [EventID] = []
        var again: [EventID] = []
        var refusal: FailureReason?
        var seen: Set<String> = []
        for purchase in purchases {
            let transaction = Self.transaction(purchase)
            let ownName = Self.name(purchase)
            guard !seen.contains(ownName), seen.insert(transaction).inserted else { continue }
            seen.insert(ownName)
            let name = grants[ownName] == nil ? names[transaction] ?? ownName : ownName
            let event = Self.event(name)
            if let owner = grants[name] {
                if owner.user != claim.userID {
                    refusal = refusal ?? .ownedByAnotherUser
                } else if let theirs = owner.order, let ours = claim.orderID, theirs != ours {
                    refusal = refusal ?? .grantedToAnotherOrder
                } else {
                    again.append(event)
                    events.append(event)
                }
            } else {
                grants[name] = Grant(user: claim.userID, order: claim.orderID)
                names[transaction] = name
                events.append(event)
                tell(event, settlement, now)
            }
        }
        again.forEach { outbox.copy($0) }
        return (events, events.count - again.count, refusal)
    }

    private mutating func tell(_ event: EventID, _ settlement: Settlement, _ now: Timestamp) {
        switch settlement.delivery {
        case nil: outbox.write(event)
        case .due: outbox.deliver(event, of: settlement.claimant.bundleID, Place(dueAt: now, worker: nil))
        case .held(let worker, let lease):
            outbox.deliver(
                event, of: settlement.claimant.bundleID, Place(dueAt: now.advanced(by: lease), worker: worker))
            opened.append(event)
        }
    }

    private mutating func fail(
        _ reason: FailureReason, _ settlement: Settlement, _ old: Submission?
    ) -> SettledOutcome {
        if let old, old.hasFailed || !old.granted.isEmpty {
            if old.cause != nil { submissions[settlement.key] = Submission(settlement, after: old) }
            return answerAgain(old)
        }
        var new = Submission(settlement, after: nil)
        new.hasFailed = true
        submissions[settlement.key] = new
        new.answers.forEach { outbox.write($0) }
        return .failed(event: new.answers[0], reason: reason)
    }

    private mutating func wait(
        _ cause: WaitingCause, _ settlement: Settlement, _ old: Submission?, _ place: Place?
    ) -> SettledOutcome {
        var new = Submission(settlement, after: old)
        new.cause = cause
        new.place = place
        submissions[settlement.key] = new
        return .waiting(cause)
    }

    private mutating func answerAgain(_ submission: Submission) -> SettledOutcome {
        submission.answers.forEach { outbox.copy($0) }
        return .answeredAgain(events: submission.answers)
    }

    private static func transaction(_ granted: GrantablePurchase) -> String {
        "\(granted.purchase.environment.rawValue) \(granted.purchase.transactionID)"
    }

    private static func name(_ granted: GrantablePurchase) -> String {
        let purchase = granted.purchase
        let world = purchase.environment == .production ? "production:" : "sandbox:"
        if granted.type == .consumable { return world + "t:" + purchase.transactionID.rawValue }
        if granted.type != .autoRenewable { return world + "t:" + purchase.originalTransactionID.rawValue }
        if let item = purchase.webOrderLineItemID { return world + "w:" + item }
        return world + "p:" + purchase.originalTransactionID.rawValue + ":1790000000000"
    }

    static func event(_ name: String) -> EventID {
        GrantedEvent.id(of: GrantID(NameBasedUUID.text(namespace: NameBasedUUID.grants, name: name)))
    }

    static func failed(_ bundleID: BundleID, _ id: SubmissionID) -> EventID {
        FailedEvent.id(bundleID: bundleID, submissionID: id)
    }
}
