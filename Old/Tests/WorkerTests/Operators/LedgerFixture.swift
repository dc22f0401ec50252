import Ledger
import Purchases

/// A ledger that holds what a test gave it.
struct LedgerFixture: LedgerReader, LedgerOperations {
    var submissionRows: [SubmissionRow] = []
    var grantRows: [GrantRow] = []
    var eventRows: [EventRow] = []
    var deliveryRows: [DeliveryRow] = []
    /// What comes of a person's retry.
    var recall = Recall.due

    func submissions(
        _ filter: SubmissionFilter, before: Int64?, limit: Int
    ) async throws(LedgerError) -> [SubmissionRow] {
        let matching = submissionRows.filter { row in
            (filter.outcome ?? row.outcome) == row.outcome
                && (filter.bundleID ?? row.claimant.bundleID) == row.claimant.bundleID
                && (filter.submissionID ?? row.claimant.submissionID) == row.claimant.submissionID
                && (filter.userID ?? row.claimant.userID) == row.claimant.userID
                && (filter.orderID == nil || filter.orderID == row.claimant.orderID)
                && row.sequence < (before ?? .max)
        }
        return Array(matching.sorted { $0.sequence > $1.sequence }.prefix(limit))
    }

    func grants(_ filter: GrantFilter, before: Int64?, limit: Int) async throws(LedgerError) -> [GrantRow] {
        let matching = grantRows.filter { row in
            (filter.grantID ?? row.grantID) == row.grantID
                && (filter.transactionID ?? row.granted.purchase.transactionID) == row.granted.purchase.transactionID
                && (filter.bundleID ?? row.claimant.bundleID) == row.claimant.bundleID
                && (filter.userID ?? row.claimant.userID) == row.claimant.userID
                && row.sequence < (before ?? .max)
        }
        return Array(matching.sorted { $0.sequence > $1.sequence }.prefix(limit))
    }

    func events(_ ids: [EventID]) async throws(LedgerError) -> [EventRow] {
        eventRows.filter { ids.contains($0.event.id) }
    }

    func events(after sequence: Int64, limit: Int) async throws(LedgerError) -> [EventRow] {
        Array(eventRows.filter { $0.sequence > sequence }.prefix(limit))
    }

    func deliveries(_ events: [EventID]) async throws(LedgerError) -> [DeliveryRow] {
        deliveryRows.filter { events.contains($0.eventID) }
    }

    func waiting(_ key: SubmissionKey) async throws(LedgerError) -> WaitingState? { nil }

    func actions(on key: SubmissionKey) async throws(LedgerError) -> [OperatorAction] { [] }

    func retry(
        _ key: SubmissionKey, _ note: OperatorNote, now: Timestamp
    ) async throws(LedgerError) -> Recall { recall }

    func retryAll(
        _ cause: WaitingCause, bundleID: BundleID?, perSecond: Double, _ note: OperatorNote, now: Timestamp
    ) async throws(LedgerError) -> Int {
        submissionRows.count { $0.outcome == cause.outcome && $0.reason == cause.word }
    }

    func abandon(
        _ key: SubmissionKey, _ note: OperatorNote, now: Timestamp
    ) async throws(LedgerError) -> Abandonment {
        .notFound
    }

    func relay() async throws(LedgerError) -> RelayState {
        RelayState(publishedThrough: eventRows.last { $0.publishedAt != nil }?.sequence ?? 0)
    }

    func snapshot() async throws(LedgerError) -> any LedgerSnapshot { LedgerFixtureSnapshot(fixture: self) }

    func counts() async throws(LedgerError) -> LedgerCounts {
        LedgerCounts(
            submissions: [:], failures: [:], grants: grantRows.count, quarantined: 0, unpublished: 0)
    }
}

extension LedgerFixture {
    static let time = Timestamp(milliseconds: 1_700_000_000_000)

    /// Two submissions: `s-1` was granted 100 gems, `s-2` of another user claimed the same and failed.
    static func twoSubmissions() -> LedgerFixture {
        let first = Claimant(submissionID: "s-1", userID: "u-1", bundleID: "com.example.game", orderID: "o-1")
        let second = Claimant(submissionID: "s-2", userID: "u-2", bundleID: "com.example.game")
        let purchase = Purchase(
            transactionID: "1000001", originalTransactionID: "1000001", productID: "com.example.game.gems100",
            environment: .production, purchasedAt: time)
        let granted = GrantablePurchase(
            purchase: purchase, type: .consumable, items: [Item(item: "gems", quantity: 100)])
        let grantID = GrantID("0b7d9a52-0000-5000-8000-000000000001")
        let grantedEvent = GrantedEvent.event(
            grant: grantID, of: granted, to: first, by: .verifyReceipt, grantedAt: time)
        let failedEvent = FailedEvent.event(
            of: second, rejection: Rejection(.ownedByAnotherUser, "The purchase belongs to another user."),
            failedAt: time, attempts: 1)
        return LedgerFixture(
            submissionRows: [
                row(1, first, .granted, nil, nil, [grantedEvent.id]),
                row(
                    2, second, .failed, "owned_by_another_user", "The purchase belongs to another user.",
                    [failedEvent.id]),
            ],
            grantRows: [
                GrantRow(
                    sequence: 1, grantID: grantID, key: "production:1000001", claimant: first, granted: granted,
                    verifiedBy: .verifyReceipt, grantedAt: time, eventID: grantedEvent.id)
            ],
            eventRows: [
                EventRow(sequence: 1, event: grantedEvent, publishedAt: time),
                EventRow(sequence: 2, event: failedEvent, publishedAt: time),
            ])
    }

    private static func row(
        _ sequence: Int64, _ claimant: Claimant, _ outcome: RecordedOutcome, _ reason: String?, _ detail: String?,
        _ events: [EventID]
    ) -> SubmissionRow {
        SubmissionRow(
            sequence: sequence, claimant: claimant, outcome: outcome, reason: reason, detail: detail,
            origin: Origin(topic: "receipts.submitted", partition: 3, offset: 40 + sequence), receivedAt: time,
            settledAt: time.advanced(by: .seconds(2)), attempts: 1, eventIDs: events)
    }
}

/// The fixture in pages.
struct LedgerFixtureSnapshot: LedgerSnapshot {
    let fixture: LedgerFixture

    func grants(after sequence: Int64, limit: Int) async throws(LedgerError) -> [GrantRow] {
        Array(fixture.grantRows.filter { $0.sequence > sequence }.prefix(limit))
    }

    func submissions(after sequence: Int64, limit: Int) async throws(LedgerError) -> [SubmissionRow] {
        Array(fixture.submissionRows.filter { $0.sequence > sequence }.prefix(limit))
    }

    func quarantines(after sequence: Int64, limit: Int) async throws(LedgerError) -> [QuarantineRow] { [] }

    func events(after sequence: Int64, limit: Int) async throws(LedgerError) -> [OutboxEntry] {
        try await fixture.events(after: sequence, limit: limit).map {
            OutboxEntry(sequence: $0.sequence, event: $0.event)
        }
    }

    func deliveries(after sequence: Int64, limit: Int) async throws(LedgerError) -> [DeliveryRow] {
        Array(fixture.deliveryRows.filter { $0.sequence > sequence }.prefix(limit))
    }

    func close() async {}
}
