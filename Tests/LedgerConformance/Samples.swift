public import Contract
public import Ledger
import MemberTesting

public enum Samples {
    public static let noon = Timestamp(milliseconds: 1_795_953_600_000)
    public static let worker = WorkerSign(id: 1, name: "host/1", version: "1.0")
    public static let group = ConsumerGroup(name: "grantor", cluster: "cluster-1") { $0.defaultName }
    public static let partition = TopicPartition(topic: "receipts.submitted", partition: 3)
    static let endpoint = Endpoint(.verifyReceipt, .production)
    static let serverAPI = Endpoint(.serverAPI, .production, key: "com.example.game")
    static let app: BundleID = "com.example.game"
    /// Longer than any id of Apple's, so that the ledger refuses it.
    public static let refusedTransaction: TransactionID = "123456789012345678901"

    static func later(_ milliseconds: Int64) -> Timestamp { Timestamp(milliseconds: noon.milliseconds + milliseconds) }

    static func submission(
        _ id: SubmissionID, user: UserID = "player-1", app: BundleID = app, order: OrderID? = nil, offset: Int64 = 7,
        receipt: String = "cmVjZWlwdA==", transaction: TransactionID? = nil, traceparent: String? = nil,
        receivedAt: Timestamp = later(-500)
    ) -> Submission {
        Submission(
            claimant: Claimant(
                submissionID: id, userID: user, bundleID: app, orderID: order, traceparent: traceparent),
            claim: Claim(
                transactionID: transaction, productID: nil, appAccountToken: nil, environment: nil, submittedAt: nil),
            evidence: .receipt(base64: EvidenceText(receipt)),
            origin: Origin(topic: partition.topic, partition: partition.partition, offset: offset),
            receivedAt: receivedAt)
    }

    static func gems(_ type: ProductType = .consumable, _ quantity: Int = 100) -> Product {
        Product(id: "com.example.gems", type: type, items: [Item(item: "gems", quantity: quantity)])
    }

    /// A purchase; nil only for quantities that no test has.
    static func purchase(
        _ transaction: TransactionID, original: TransactionID? = nil, lineItem: String? = nil,
        product: Product = gems(),
        environment: Environment = .production, quantity: Int = 1, at milliseconds: Int64 = -60_000,
        payment: Payment? = nil, offer: Offer? = nil
    ) -> GrantablePurchase {
        let purchase = Purchase.sample(
            transaction, original: original, lineItem: lineItem, product: product.id, quantity: quantity,
            environment: environment, at: later(milliseconds), payment: payment, offer: offer)
        guard let granted = GrantablePurchase(purchase, of: product) else { preconditionFailure("a sample overflows") }
        return granted
    }

    /// A purchase beside which one was passed over.
    static func purchase(_ transaction: TransactionID, passingOver reason: PassedOver.Reason) -> GrantablePurchase {
        var granted = purchase(transaction)
        granted.passedOver = PassedOver([PassedOver.Entry("99", "com.example.new", reason)])
        return granted
    }

    static func ownership(_ generation: Int64 = 1) -> PartitionOwnership {
        PartitionOwnership(partition: partition, generation: Generation(rawValue: generation))
    }

    /// A decision on a record of the sample partition, or on a leased row.
    static func decision(
        _ submission: Submission, _ content: Decision.Content, lease: RetryLease? = nil, generation: Int64 = 1,
        at milliseconds: Int64 = 0, owesCall: Bool = false, tellsWaiting: Bool = false,
        repeats: RepeatPolicy = .publish,
        doubts: Bool = false, attempts: Int = 1
    ) -> Decision {
        Decision(
            subject: .submission(submission), source: lease.map { .row($0) } ?? .record(ownership(generation)),
            content: content, attempts: attempts, decidedAt: later(milliseconds), owesCall: owesCall,
            tellsWaiting: tellsWaiting, repeats: repeats, doubtsNothingNew: doubts)
    }

    static func grant(
        _ submission: Submission, _ purchases: GrantablePurchase..., lease: RetryLease? = nil, generation: Int64 = 1,
        at milliseconds: Int64 = 0, owesCall: Bool = false, repeats: RepeatPolicy = .publish, doubts: Bool = false
    ) -> Decision {
        decision(
            submission, .grant(purchases, by: .verifyReceipt), lease: lease, generation: generation, at: milliseconds,
            owesCall: owesCall, repeats: repeats, doubts: doubts)
    }

    static func fail(
        _ submission: Submission, _ reason: FailureReason = .receiptNotAuthentic, lease: RetryLease? = nil,
        generation: Int64 = 1, at milliseconds: Int64 = 0
    ) -> Decision {
        decision(
            submission, .fail(Rejection(reason, "Said so.")), lease: lease, generation: generation, at: milliseconds)
    }

    static func wait(
        _ submission: Submission, delay: Int64 = 15_000, endpoint: Endpoint = endpoint, lease: RetryLease? = nil,
        attempts: Int = 1, history: AttemptHistory = AttemptHistory(), doubt: Doubt? = nil, isSigned: Bool = false,
        tellsWaiting: Bool = false
    ) -> Decision {
        decision(
            submission,
            .wait(
                RetryEntry(
                    cause: .retrying(.unreachable, endpoint), detail: "Nothing was heard.", delay: delay,
                    history: history, doubt: doubt, isSigned: isSigned, purchases: [])), lease: lease,
            tellsWaiting: tellsWaiting, attempts: attempts)
    }

    static func reference(
        _ transaction: TransactionID, _ environment: Environment = .production
    ) -> GrantReference {
        GrantReference(environment: environment, transactionID: transaction)
    }
}
