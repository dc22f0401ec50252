public import Ledger
public import Purchases

/// Settlements as short as a test wants to say them; what is left out has one fixed value.
public enum Samples {
    public static let bundle: BundleID = "com.example.game"
    /// The `now` of calls that do not care.
    public static let noon = Timestamp(milliseconds: 1_795_000_000_000)

    /// A purchase that may be granted.
    public static func purchase(
        _ id: TransactionID, original: TransactionID? = nil, type: ProductType = .consumable,
        lineItem: String? = nil, environment: Environment = .production
    ) -> GrantablePurchase {
        GrantablePurchase(
            purchase: Purchase(
                transactionID: id, originalTransactionID: original ?? id, webOrderLineItemID: lineItem,
                productID: "com.example.game.gems100", quantity: 2, environment: environment,
                purchasedAt: Timestamp(milliseconds: 1_790_000_000_000)),
            type: type, items: [Item(item: "gems", quantity: 200)])
    }

    /// A submission with its decision.
    ///
    /// - Parameter content: stands for all that the submission claims; another content is another fingerprint.
    public static func settlement(
        _ id: SubmissionID, user: UserID = "alice", order: OrderID? = nil, content: String = "first",
        offset: Int64 = 0, _ decision: Decision
    ) -> Settlement {
        Settlement(
            claimant: Claimant(
                submissionID: id, userID: user, bundleID: bundle, orderID: order,
                traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
            fingerprint: content, origin: Origin(topic: "receipts.submitted", partition: 1, offset: offset),
            receivedAt: Timestamp(milliseconds: 1_794_000_000_000), attempts: 1, decision: decision)
    }

    /// A submission that is granted these purchases unless they are taken.
    public static func grant(
        _ id: SubmissionID, user: UserID = "alice", order: OrderID? = nil, content: String = "first",
        _ purchases: GrantablePurchase...
    ) -> Settlement {
        settlement(id, user: user, order: order, content: content, .grant(purchases, by: .verifyReceipt))
    }

    /// A submission whose grants are told to an inventory service first.
    public static func delivered(
        _ id: SubmissionID, user: UserID = "alice", order: OrderID? = nil, _ purchases: GrantablePurchase...,
        by delivery: DeliveryOrder = .due
    ) -> Settlement {
        settlement(id, user: user, order: order, .grant(purchases, by: .verifyReceipt)).told(by: delivery)
    }

    /// A submission that fails.
    public static func failure(
        _ id: SubmissionID, user: UserID = "alice", content: String = "first",
        reason: FailureReason = .receiptNotAuthentic
    ) -> Settlement {
        settlement(id, user: user, content: content, .fail(Rejection(reason, "It is not authentic.")))
    }

    /// A submission that is held with its evidence.
    public static func held(_ id: SubmissionID, content: String = "first") -> Settlement {
        settlement(
            id, content: content,
            .wait(waiting(id, .held(.sharedSecretRefused), detail: "No secret fits.")))
    }

    /// A submission that is parked.
    public static func parked(
        _ id: SubmissionID, content: String = "first", cause: RetryCause = .noAnswer,
        after delay: Duration = .seconds(60),
        attempts: Int = 3, history: [Attempt] = []
    ) -> Settlement {
        Settlement(
            claimant: Claimant(submissionID: id, userID: "alice", bundleID: bundle), fingerprint: content,
            origin: Origin(topic: "receipts.submitted", partition: 1, offset: 7),
            receivedAt: Timestamp(milliseconds: 1_794_000_000_000), attempts: attempts,
            history: AttemptHistory(history),
            decision: .wait(waiting(id, .parked(cause), detail: "HTTP 503.", after: delay)))
    }

    /// What a submission made here waits for.
    public static func waiting(
        _ id: SubmissionID, _ cause: WaitingCause, detail: String, after delay: Duration = .seconds(60)
    ) -> Waiting {
        Waiting(
            cause, detail: detail,
            submission: Submission(
                id: id, userID: "alice", bundleID: bundle, evidence: .receipt(base64: "c2VjcmV0"),
                transactionID: "77", productID: "com.example.game.gems100", appAccountToken: "a-token",
                environment: .sandbox, submittedAt: noon),
            delay: delay, doubtSince: noon)
    }

    /// An unreadable record.
    public static func quarantine(offset: Int64, value: [UInt8] = [0x00, 0xff]) -> Quarantine {
        let origin = Origin(topic: "receipts.submitted", partition: 0, offset: offset)
        return Quarantine(
            origin: origin, reason: "not_json",
            event: QuarantinedEvent.event(
                from: origin, key: nil, value: value, headers: [EventHeader(name: "x", value: nil)],
                reason: "not_json", at: noon))
    }

    /// The key of a submission made here.
    public static func key(_ id: SubmissionID) -> SubmissionKey {
        SubmissionKey(bundleID: bundle, submissionID: id)
    }

    /// The event of the grant of a purchase made here.
    public static func event(_ purchase: GrantablePurchase) -> EventID {
        GrantedEvent.id(of: GrantKey(of: purchase).grantID)
    }

    /// The failed event of a submission made here.
    public static func failedEvent(_ id: SubmissionID) -> EventID {
        FailedEvent.id(bundleID: bundle, submissionID: id)
    }
}
