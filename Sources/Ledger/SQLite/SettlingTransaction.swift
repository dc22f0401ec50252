import GRDB
import Purchases

/// Writes a batch inside one transaction: asks the rules, and stores what they say.
struct SettlingTransaction {
    private let submissions: SubmissionTable
    private let grants: GrantTable
    private let outbox: OutboxTable
    private let database: Database
    private let now: Timestamp

    init(database: Database, now: Timestamp) throws {
        self.database = database
        self.now = now
        submissions = try SubmissionTable(database)
        grants = try GrantTable(database)
        outbox = try OutboxTable(database)
    }

    /// Settles in the order given.
    ///
    /// - Parameter claims: per settlement, its purchases' claims.
    func settle(_ settlements: [Settlement], claims: [[GrantClaim]]) throws -> [Conclusion] {
        try zip(settlements, claims).map { settlement, claims in
            let prior = try submissions.prior(settlement.key)
            return try settle(settlement, SettlementRules(settlement, prior: prior), claims)
        }
    }

    /// Stores unreadable records with the events that carry them on; those seen before are left as they are.
    func quarantine(_ quarantines: [Quarantine]) throws {
        for quarantine in quarantines where try outbox.insert(quarantine.event) {
            let statement = try PreparedStatement(
                """
                INSERT INTO quarantines (
                    event_id, origin_topic, origin_partition, origin_offset, reason, quarantined_at)
                VALUES (?, ?, ?, ?, ?, ?)
                """, on: database)
            try statement.run {
                $0.text(quarantine.event.id.rawValue)
                $0.text(quarantine.origin.topic)
                $0.integer(Int64(quarantine.origin.partition))
                $0.integer(quarantine.origin.offset)
                $0.text(quarantine.reason)
                $0.time(now)
            }
        }
    }

    private func settle(
        _ settlement: Settlement, _ rules: SettlementRules, _ claims: [GrantClaim]
    ) throws -> Conclusion {
        let conclusion =
            switch rules.firstStep {
            case .conclude(let conclusion): conclusion
            case .claim: rules.conclusion(of: try claims.map { try claim($0, settlement.claimant) })
            }
        for event in conclusion.again {
            try outbox.requestCopy(event)
        }
        if let rejection = conclusion.failure {
            let event = FailedEvent.event(
                of: settlement.claimant, rejection: rejection, failedAt: now, attempts: settlement.attempts)
            guard try outbox.insert(event) else {
                throw LedgerError.damaged("the outbox has a failed event of a submission without an answer")
            }
        }
        switch conclusion.change {
        case .keep: break
        case .append(let events): try submissions.setEvents(events, of: settlement.key)
        case .write(let content): try submissions.write(content, of: settlement, now: now)
        }
        return conclusion
    }

    private func claim(_ claim: GrantClaim, _ claimant: Claimant) throws -> ClaimResult {
        if try grants.insert(claim, claimant: claimant, now: now) {
            guard try outbox.insert(claim.event) else {
                throw LedgerError.damaged("the outbox has the event of a grant that did not exist")
            }
            return .created(claim.event.id)
        }
        guard let holder = try grants.holder(of: claim.key) else {
            throw LedgerError.damaged("a grant key is taken by no grant")
        }
        return ClaimResult(of: claim, for: claimant, heldBy: holder)
    }
}
