import GRDB
import Purchases

/// Writes a batch inside one transaction: asks the rules, and stores what they say.
struct SettlingTransaction {
    private let submissions: SubmissionTable
    private let grants: GrantTable
    private let outbox: OutboxTable
    private let relay: RelayTable
    private let waiting: WaitingTable
    private let deliveries: DeliveryTable
    private let database: Database
    private let now: Timestamp
    private let firstSequence: Int64
    /// The outbox's head as this transaction leaves it.
    private var lastSequence: Int64
    private var added: [OutboxEntry] = []
    private var hasCopies = false
    /// Deliveries that a worker has at once.
    private(set) var opened: [Delivery] = []

    init(database: Database, now: Timestamp) throws {
        self.database = database
        self.now = now
        submissions = try SubmissionTable(database)
        grants = try GrantTable(database)
        outbox = try OutboxTable(database)
        relay = RelayTable(database: database)
        waiting = WaitingTable(database: database)
        deliveries = DeliveryTable(database: database)
        firstSequence = try relay.lastSequence()
        lastSequence = firstSequence
    }

    /// Settles in the order given.
    ///
    /// - Parameter claims: per settlement, its purchases' claims.
    mutating func settle(_ settlements: [Settlement], claims: [[GrantClaim]]) throws -> [Conclusion] {
        var conclusions: [Conclusion] = []
        conclusions.reserveCapacity(settlements.count)
        for (settlement, claims) in zip(settlements, claims) {
            if let conclusion = try settleNew(settlement, claims) {
                conclusions.append(conclusion)
            } else {
                conclusions.append(try settleKnown(settlement, claims))
            }
        }
        return conclusions
    }

    /// Stores unreadable records with the events that carry them on; those seen before are left as they are.
    mutating func quarantine(_ quarantines: [Quarantine]) throws {
        for quarantine in quarantines where try append(quarantine.event) {
            let id = try EventIDBytes.encode([quarantine.event.id])
            let statement = try PreparedStatement(
                """
                INSERT INTO quarantines (
                    event_id, origin_topic, origin_partition, origin_offset, reason, quarantined_at)
                VALUES (?, ?, ?, ?, ?, ?)
                """, on: database)
            try statement.run {
                $0.blob(id)
                $0.text(quarantine.origin.topic)
                $0.integer(Int64(quarantine.origin.partition))
                $0.integer(quarantine.origin.offset)
                $0.text(quarantine.reason)
                $0.time(now)
            }
        }
    }

    /// Notes what became of deliveries; what is done enters the outbox.
    mutating func take(_ reports: [DeliveryReport], _ worker: WorkerID) throws {
        for report in reports {
            switch report.end {
            case .again(let delay): try deliveries.postpone(report, by: delay, worker, now: now)
            case .done:
                guard let done = try deliveries.finish(report, now: now) else { continue }
                guard try append(done.event, telling: done.key) else {
                    throw LedgerError.damaged("the outbox has the event of a delivery that was open")
                }
                for _ in 0..<done.joined { try appendCopy(of: done.event.id) }
            }
        }
    }

    /// Notes the outbox's head.
    ///
    /// - Returns: what was added to the outbox, unless copies were.
    mutating func finish() throws -> [OutboxEntry]? {
        if lastSequence > firstSequence { try relay.setLastSequence(lastSequence) }
        return hasCopies ? nil : added
    }

    /// Settles a submission that the ledger does not have, which nearly all are: its row is written as if all claims held,
    /// so that its key is looked for once, by the insertion itself.
    ///
    /// - Returns: nil if the ledger has the submission; nothing is written then.
    private mutating func settleNew(_ settlement: Settlement, _ claims: [GrantClaim]) throws -> Conclusion? {
        let rules = SettlementRules(settlement, prior: nil)
        switch rules.firstStep {
        case .conclude(let conclusion):
            guard case .write(let content) = conclusion.change,
                try submissions.insert(content, of: settlement, now: now)
            else { return nil }
            try tell(conclusion, settlement)
            try keep(content.waiting, settlement)
            return conclusion
        case .claim:
            let hoped = SubmissionContent(outcome: .granted, events: claims.map(\.event.id))
            guard try submissions.insert(hoped, of: settlement, now: now) else { return nil }
            let conclusion = rules.conclusion(of: try claimAll(claims, settlement))
            try tell(conclusion, settlement)
            if conclusion.change != .write(hoped) { try apply(conclusion.change, settlement) }
            return conclusion
        }
    }

    private mutating func settleKnown(_ settlement: Settlement, _ claims: [GrantClaim]) throws -> Conclusion {
        let rules = SettlementRules(settlement, prior: try submissions.prior(settlement.key))
        let conclusion =
            switch rules.firstStep {
            case .conclude(let conclusion): conclusion
            case .claim: rules.conclusion(of: try claimAll(claims, settlement))
            }
        try tell(conclusion, settlement)
        try apply(conclusion.change, settlement)
        return conclusion
    }

    /// Adds to the outbox what the conclusion says to tell, besides the grants' own events.
    private mutating func tell(_ conclusion: Conclusion, _ settlement: Settlement) throws {
        for event in conclusion.again { try appendCopy(of: event) }
        guard let rejection = conclusion.failure else { return }
        let event = FailedEvent.event(
            of: settlement.claimant, rejection: rejection, failedAt: now, attempts: settlement.attempts)
        guard try append(event) else {
            throw LedgerError.damaged("the outbox has a failed event of a submission without an answer")
        }
    }

    private func apply(_ change: SubmissionChange, _ settlement: Settlement) throws {
        switch change {
        case .keep: break
        case .append(let events): try submissions.setEvents(events, of: settlement.key)
        case .write(let content):
            try submissions.write(content, of: settlement, now: now)
            if content.waiting == nil { try waiting.remove(settlement.key) }
            try keep(content.waiting, settlement)
        }
    }

    private func keep(_ waiting: Waiting?, _ settlement: Settlement) throws {
        guard let waiting else { return }
        try self.waiting.put(waiting, of: settlement.key, now: now)
    }

    private mutating func claimAll(_ claims: [GrantClaim], _ settlement: Settlement) throws -> [ClaimResult] {
        var results: [ClaimResult] = []
        results.reserveCapacity(claims.count)
        for one in claims { results.append(try claim(one, settlement)) }
        return results
    }

    private mutating func claim(_ claim: GrantClaim, _ settlement: Settlement) throws -> ClaimResult {
        let claimant = settlement.claimant
        if try grants.insert(claim, claimant: claimant, now: now) {
            try tell(claim, settlement)
            return .created(claim.event.id)
        }
        guard let holder = try grants.holder(of: claim) else {
            throw LedgerError.damaged("a grant's key or transaction is taken by no grant")
        }
        return ClaimResult(of: claim, for: claimant, heldBy: holder)
    }

    /// Adds a new grant's event to the outbox, or opens its delivery.
    private mutating func tell(_ claim: GrantClaim, _ settlement: Settlement) throws {
        if let order = settlement.delivery {
            let bundleID = settlement.claimant.bundleID
            try deliveries.open(claim, order, of: bundleID, now: now)
            if let delivery = order.opened(claim, of: bundleID) { opened.append(delivery) }
        } else {
            guard try append(claim.event, telling: claim.key) else {
                throw LedgerError.damaged("the outbox has the event of a grant that did not exist")
            }
        }
    }

    /// Asks for one more copy of an event; what is still to be delivered is published when that is done.
    private mutating func appendCopy(of event: EventID) throws {
        guard try outbox.insertCopy(of: event, at: lastSequence + 1) else { return try deliveries.join(event) }
        lastSequence += 1
        hasCopies = true
    }

    /// - Returns: false if the outbox has an event with this id.
    private mutating func append(_ event: Event, telling key: GrantKey? = nil) throws -> Bool {
        guard try outbox.insert(event, at: lastSequence + 1, telling: key) else { return false }
        lastSequence += 1
        added.append(OutboxEntry(sequence: lastSequence, event: event))
        return true
    }
}
