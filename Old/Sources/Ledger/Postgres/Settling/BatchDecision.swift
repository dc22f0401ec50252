import Purchases

/// What a batch comes to, given what the database holds: the rows to write, and what the callers are told.
///
/// Pure. It is a proposal: the rows are written on the condition that the database still holds what it was made from, and
/// it is made anew where it does not.
struct BatchDecision: Sendable {
    /// A submission's row. A class for the same reason as ``Settlement``.
    final class Row: Sendable {
        /// Claimant, fingerprint, origin and times are this settlement's.
        let settlement: Settlement
        let content: SubmissionContent

        init(settlement: Settlement, content: SubmissionContent) {
            self.settlement = settlement
            self.content = content
        }
    }

    struct Grant: Sendable {
        let claim: GrantClaim
        let claimant: Claimant
    }

    /// A grant of this batch whose event waits until the app's inventory service was told.
    struct Delivery: Sendable {
        let claim: GrantClaim
        let bundleID: BundleID
        let order: DeliveryOrder
        /// Later submissions of the batch that ask for its event.
        var joined = 0

        /// What the worker that has it is given.
        var opened: Ledger.Delivery? { order.opened(claim, of: bundleID) }
    }

    /// An entry of the outbox, before it has its sequence.
    enum Entry: Sendable {
        case event(Event, telling: GrantKey?)
        case copy(of: EventID)

        /// Nil for a copy.
        var event: Event? { if case .event(let event, _) = self { event } else { nil } }
    }

    /// One per settlement, in their order.
    private(set) var conclusions: [Conclusion] = []
    private(set) var newRows: [Row] = []
    /// Rows that are written anew, all of them.
    private(set) var changedRows: [Row] = []
    /// Rows of which only the events change.
    private(set) var extendedRows: [(key: SubmissionKey, events: [EventID])] = []
    private(set) var grants: [Grant] = []
    private(set) var deliveries: [Delivery] = []
    private(set) var entries: [Entry] = []
    private(set) var quarantines: [Quarantine] = []
    /// Whether something in the batch is known already, to the database or to the batch itself.
    private(set) var hasRepeats = false

    /// Decides a batch in its order.
    ///
    /// - Parameter claims: per settlement, its purchases' claims.
    init(
        _ settlements: [Settlement], claims: [[GrantClaim]], quarantines: [Quarantine], now: Timestamp, known: KnownRows
    ) {
        var decider = BatchDecider(known: known, now: now, count: settlements.count)
        for (settlement, claims) in zip(settlements, claims) { decider.settle(settlement, claims) }
        for quarantine in quarantines { decider.quarantine(quarantine) }
        conclusions = decider.conclusions
        grants = decider.grants
        deliveries = decider.deliveries
        entries = decider.entries
        self.quarantines = decider.quarantines
        hasRepeats = decider.hasRepeats
        newRows.reserveCapacity(decider.changes.count)
        for change in decider.changes {
            switch change {
            case .write(let row) where known.submissions[row.settlement.key] == nil: newRows.append(row)
            case .write(let row): changedRows.append(row)
            case .extend(let key, let prior): extendedRows.append((key, prior.events))
            }
        }
        sortByKey()
    }

    /// All workers write in the same order, or two of them could each wait for the other.
    private mutating func sortByKey() {
        newRows.order(by: \.settlement.key.submissionID.rawValue) { $0.settlement.key < $1.settlement.key }
        changedRows.order(by: \.settlement.key.submissionID.rawValue) { $0.settlement.key < $1.settlement.key }
        extendedRows.order(by: \.key.submissionID.rawValue) { $0.key < $1.key }
        grants.order(by: \.claim.key.text) { $0.claim.key.text.utf8.lexicographicallyPrecedes($1.claim.key.text.utf8) }
        quarantines.order(by: \.event.id.rawValue) { $0.event.id < $1.event.id }
    }

    /// How many copies are asked of each event.
    var copies: [EventID: Int] {
        var copies: [EventID: Int] = [:]
        for case .copy(let id) in entries { copies[id, default: 0] += 1 }
        return copies
    }
}

extension SubmissionKey {
    fileprivate static func < (left: SubmissionKey, right: SubmissionKey) -> Bool {
        (left.submissionID, left.bundleID) < (right.submissionID, right.bundleID)
    }
}
