import Contract
import Ledger

extension FixedLedger {
    static let origin = Origin(topic: "receipts.submitted", partition: 5, offset: 173)

    static func claimant(_ id: SubmissionID, user: UserID = "u-1", order: OrderID = "o-1") -> Claimant {
        Claimant(submissionID: id, userID: user, bundleID: "com.example.game", orderID: order, traceparent: nil)
    }

    static func record(
        grants: [Grant] = [], answer: Answer? = nil, waiting: [RetryRow] = [], owed: [OutboxRow] = []
    ) -> SubmissionRecord {
        SubmissionRecord(
            grants: grants.map { GrantRow(sequence: 1, grant: $0) }, answer: answer, waiting: waiting, owed: owed,
            later: 0)
    }

    static func grant(
        _ transactionID: TransactionID = "1000001", passingOver passedOver: PassedOver? = nil
    ) -> Grant {
        Grant(
            key: GrantKey(environment: .production, name: "t:\(transactionID)"), transactionID: transactionID,
            originalTransactionID: transactionID, webOrderLineItemID: nil,
            product: Product(
                id: "com.example.game.gems100", type: .consumable, items: [Item(item: "gems", quantity: 100)]),
            quantity: 2, purchasedAt: time, expiresAt: nil, ownership: .purchased, payment: nil, offer: nil,
            verifiedBy: "signedTransaction", claimant: claimant("granted"), origin: origin, receivedAt: time,
            grantedAt: time, attempts: 1, format: .current, passedOver: passedOver)
    }

    /// Another system granted it.
    static var imported: Grant {
        let purchase = Purchase(
            transactionID: "1000009", originalTransactionID: "1000009", webOrderLineItemID: nil,
            productID: "com.example.game.gems100", quantity: 1, environment: .production, purchasedAt: time,
            expiresAt: nil, revokedAt: nil, isUpgraded: false, ownership: .purchased, appAccountToken: nil, type: nil,
            payment: nil, offer: nil)
        return Grant(
            imported: purchase, type: .consumable, to: claimant("import:1000009"), grantedAt: time, line: 1,
            of: "file")
    }

    static var failure: Failure {
        Failure(
            claimant: claimant("failed"), reason: "unknown_product", detail: "The catalogue has no such product.",
            transactionID: "1000002", productID: "p", failedAt: time, attempts: 2, digest: ClaimDigest(of: submission),
            origin: origin, format: .current)
    }

    static var submission: Submission {
        Submission(
            claimant: claimant("retrying"),
            claim: Claim(
                transactionID: "1000003", productID: nil, appAccountToken: nil, environment: nil, submittedAt: nil),
            evidence: .receipt(base64: "canary"), origin: origin, receivedAt: time)
    }

    static var waiting: RetryRow {
        let attempt = Attempt(at: time, cause: "no_answer", detail: "HTTP 502.")
        return RetryRow(
            key: ClaimDigest(of: submission), submission: submission,
            entry: RetryEntry(
                cause: .retrying(.noAnswer, Endpoint(.verifyReceipt, .production)), detail: "HTTP 502.", delay: 15_000,
                history: AttemptHistory([attempt]), doubt: nil, isSigned: false, purchases: []),
            attempts: 1, dueAt: time.advanced(by: .seconds(15)), isLeased: false)
    }

    static var held: RetryRow {
        RetryRow(
            key: ClaimDigest(of: submission), submission: submission,
            entry: RetryEntry(
                cause: .held(.advancedCommerce), detail: "SKUs.", delay: 0, history: AttemptHistory(), doubt: nil,
                isSigned: false, purchases: []), attempts: 1, dueAt: time, isLeased: false)
    }

    static func owed(_ step: OutboxStep) -> OutboxRow {
        OutboxRow(
            key: .granted(grant().reference, repeatOf: nil), step: step,
            target: step == .call ? .service("com.example.game") : .topic(.granted), dueAt: time, owedSince: time,
            isLeased: false, attempts: 4)
    }
}
