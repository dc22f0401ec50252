import AppStoreSimulator
import Purchases

@testable import Kafka
@testable import Ledger
@testable import grantor_chaos

/// What a right worker leaves behind after some claims: the ground on which tests plant one bug each.
struct HonestRun {
    static let now = Timestamp(milliseconds: 1_790_000_000_000)

    var submitted: [Submitted] = []
    var ledger = LedgerContents()
    var records: [KafkaRecord] = []
    var told = ToldGrants()

    /// Settles claims in the order given.
    init(_ claims: [Claim]) {
        for claim in claims {
            let origin = Origin(topic: Topic.submitted, partition: 0, offset: Int64(submitted.count))
            let message = ClaimWriter.Message(
                key: Array(claim.userID.rawValue.utf8), value: [UInt8(claim.number & 255)])
            submitted.append(
                Submitted(
                    claim: claim, message: message, partition: origin.partition, offset: origin.offset, sentAt: 0))
            guard let id = claim.submissionID else {
                quarantine(message, origin)
                continue
            }
            settle(claim, id, origin)
        }
    }

    var violations: [Violation] {
        var topics = TopicIndex()
        topics.add(records)
        return Judge(submitted: submitted, ledger: ledger, topics: topics, told: told).violations()
    }

    /// The rules that are broken.
    var broken: Set<Violation.Rule> { Set(violations.map(\.rule)) }

    /// Puts an event on its topic once more.
    mutating func publish(_ event: Event) {
        let topic =
            switch event.kind {
            case .granted: Topic.granted
            case .failed: Topic.failed
            case .quarantined: Topic.quarantined
            }
        records.append(
            KafkaRecord(
                partition: KafkaPartition(topic: topic, index: 0), offset: Int64(records.count),
                timestampMilliseconds: Self.now.milliseconds, key: event.key, value: event.value,
                headers: event.headers.map { KafkaHeader(name: $0.name, value: $0.value) }, epoch: 1))
    }

    /// Writes an event to the ledger and publishes it.
    mutating func add(_ event: Event) {
        let sequence = Int64(ledger.events.count + 1)
        ledger.events.append(EventRow(sequence: sequence, event: event, publishedAt: Self.now))
        publish(event)
    }

    /// Grants a purchase anew, under a key of its own if one is given.
    mutating func grant(_ bought: Bought, to claimant: Claimant, key: String? = nil) -> EventID {
        let granted = GrantablePurchase(
            purchase: Purchase(
                transactionID: bought.purchase.transactionID,
                originalTransactionID: bought.purchase.originalTransactionID, productID: bought.purchase.productID,
                quantity: bought.purchase.quantity, environment: bought.environment,
                purchasedAt: bought.purchase.purchasedAt),
            type: bought.purchase.kind,
            items: (Catalogue.items[bought.purchase.productID]).map {
                [Item(item: $0.item, quantity: $0.quantity * bought.purchase.quantity)]
            } ?? [])
        let key = key.map { GrantKey(text: $0) } ?? GrantKey(of: granted)
        let event = GrantedEvent.event(
            grant: key.grantID, of: granted, to: claimant, by: .verifyReceipt, grantedAt: Self.now)
        ledger.grants.append(
            GrantRow(
                sequence: Int64(ledger.grants.count + 1), grantID: key.grantID, key: key.text, claimant: claimant,
                granted: granted, verifiedBy: .verifyReceipt, grantedAt: Self.now, eventID: event.id))
        if claimant.bundleID == Catalogue.toldBundleID { tell(key.grantID, event) }
        add(event)
        return event.id
    }

    /// The inventory service says yes to a grant.
    mutating func tell(_ grant: GrantID, _ event: Event) {
        told.firstYes[grant] = Self.now.milliseconds
        told.bodies[grant, default: []].insert(event.value ?? [])
        told.calls += 1
    }

    /// Fails a submission.
    mutating func fail(_ claimant: Claimant, _ reason: FailureReason, _ origin: Origin) {
        let event = FailedEvent.event(
            of: claimant, rejection: Rejection(reason, "so it is"), failedAt: Self.now, attempts: 1)
        add(event)
        row(claimant, .failed, reason.rawValue, origin, [event.id])
    }

    private mutating func settle(_ claim: Claim, _ id: SubmissionID, _ origin: Origin) {
        let claimant = Claimant(
            submissionID: id, userID: claim.userID, bundleID: claim.bundleID, orderID: claim.orderID)
        if let row = ledger.submissions.first(where: { $0.claimant.submissionID == id }) {
            for event in ledger.events where row.eventIDs.contains(event.event.id) { publish(event.event) }
            return
        }
        if case .failed(let reason) = claim.expectation { return fail(claimant, reason, origin) }
        var ids: [EventID] = []
        for bought in claim.bought {
            let holder = ledger.grants.first {
                $0.granted.purchase.transactionID == bought.purchase.transactionID
            }
            guard let holder else {
                ids.append(grant(bought, to: claimant))
                continue
            }
            if holder.claimant.userID != claim.userID { return fail(claimant, .ownedByAnotherUser, origin) }
            if let held = holder.claimant.orderID, let order = claim.orderID, held != order {
                return fail(claimant, .grantedToAnotherOrder, origin)
            }
            for event in ledger.events where event.event.id == holder.eventID { publish(event.event) }
            ids.append(holder.eventID)
        }
        row(claimant, .granted, nil, origin, ids)
    }

    mutating func row(
        _ claimant: Claimant, _ outcome: RecordedOutcome, _ reason: String?, _ origin: Origin, _ ids: [EventID]
    ) {
        ledger.submissions.append(
            SubmissionRow(
                sequence: Int64(ledger.submissions.count + 1), claimant: claimant, outcome: outcome, reason: reason,
                detail: nil, origin: origin, receivedAt: Self.now, settledAt: Self.now, attempts: 1, eventIDs: ids))
    }

    mutating func quarantine(_ message: ClaimWriter.Message, _ origin: Origin) {
        add(
            QuarantinedEvent.event(
                from: origin, key: message.key, value: message.value, headers: [], reason: "no JSON", at: Self.now))
    }
}
