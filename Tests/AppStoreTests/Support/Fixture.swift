import Contract

@testable import AppStore

/// An app, a submission, purchases and a moment that the tests share.
enum Fixture {
    static let now = Timestamp(milliseconds: 1_795_237_200_000)
    static let day: Duration = .seconds(86_400)

    static let products: [ProductID: Product] = [
        "gems": Product(id: "gems", type: .consumable, items: [Item(item: "gems", quantity: 100)]),
        "level": Product(id: "level", type: .nonConsumable, items: [Item(item: "level", quantity: 1)]),
        "pass": Product(id: "pass", type: .nonRenewing, items: [Item(item: "pass", quantity: 1)]),
        "vip": Product(id: "vip", type: .autoRenewable, items: [Item(item: "vip", quantity: 1)]),
    ]

    static func app(
        sandbox: SandboxPolicy = .accept, acceptsFamilySharing: Bool = false,
        products: App.Products = .catalogue(products), accountToken: AccountTokenPolicy = .match
    ) -> App {
        App(
            bundleID: "com.example.game", sandbox: sandbox, products: products,
            acceptsFamilySharing: acceptsFamilySharing, accountToken: accountToken)
    }

    static func submission(
        transactionID: TransactionID? = nil, productID: ProductID? = nil, token: String? = nil,
        orderID: OrderID? = "order-1", environment: Environment? = nil, evidence: Evidence = .receipt(base64: "AAAA"),
        receivedAt: Timestamp = now
    ) -> Submission {
        Submission(
            claimant: Claimant(
                submissionID: "order-1:1", userID: "player-1", bundleID: "com.example.game", orderID: orderID,
                traceparent: nil),
            claim: Claim(
                transactionID: transactionID, productID: productID, appAccountToken: token, environment: environment,
                submittedAt: nil),
            evidence: evidence, origin: Origin(topic: "receipts.submitted", partition: 0, offset: 7),
            receivedAt: receivedAt)
    }

    static func purchase(
        _ transactionID: TransactionID = "1001", original: TransactionID? = nil, product: ProductID = "gems",
        quantity: Int = 1, environment: Environment = .production, purchasedAt: Timestamp = now,
        expiresAt: Timestamp? = nil, revokedAt: Timestamp? = nil, isUpgraded: Bool = false,
        ownership: Ownership = .purchased, token: String? = nil, type: ProductType? = nil
    ) -> Purchase {
        Purchase(
            transactionID: transactionID, originalTransactionID: original ?? transactionID, webOrderLineItemID: nil,
            productID: product,
            quantity: quantity, environment: environment, purchasedAt: purchasedAt, expiresAt: expiresAt,
            revokedAt: revokedAt, isUpgraded: isUpgraded, ownership: ownership, appAccountToken: token, type: type,
            payment: nil, offer: nil)
    }
}

extension QuestionSubject {
    /// Of a record that was first checked at the moment of the tests.
    init(submission: Submission, rules: AppRules) {
        self.init(submission: submission, rules: rules, firstCheckedAt: Fixture.now)
    }
}

extension Fixture {
    static func names(
        _ transaction: TransactionID, of product: ProductID, _ key: String, _ environment: Environment = .production
    ) -> NamedPurchase {
        NamedPurchase(transaction, of: product, GrantKey(environment: environment, name: key))
    }
}

extension Verdict {
    /// All purchases of a submission that waits, if all of them have names.
    var purchases: [NamedPurchase] {
        switch self {
        case .hold(_, _, let purchases), .retry(_, _, let purchases): purchases
        case .verified, .rejected, .doubt: []
        }
    }

    /// Why the verdict is against the submission, if it is.
    var reason: FailureReason? {
        guard case .rejected(let rejection) = self else { return nil }
        return rejection.reason
    }

    /// The cause on our side for which the submission waits, if any.
    var hold: HoldCause? {
        guard case .hold(let cause, _, _) = self else { return nil }
        return cause
    }

    /// The ids of the purchases to be granted, in order.
    var granted: [TransactionID] {
        guard case .verified(let purchases, _) = self else { return [] }
        return purchases.map(\.purchase.transactionID)
    }

    /// Why the submission is tried again, in doubt or not.
    var cause: RetryCause? {
        switch self {
        case .retry(let cause, _, _), .doubt(let cause, _): cause
        case .verified, .rejected, .hold: nil
        }
    }

    /// Cause of a doubt and the failure that it becomes.
    var doubt: (cause: RetryCause, becomes: FailureReason)? {
        guard case .doubt(let cause, .rejected(let rejection)) = self else { return nil }
        return (cause, rejection.reason)
    }

    /// The purchases that are granted once a doubt is over.
    var purchasesInTheEnd: [GrantablePurchase] {
        guard case .doubt(.notFoundYet, .verified(let purchases, _)) = self else { return [] }
        return purchases
    }

    var grantedInTheEnd: [TransactionID] { purchasesInTheEnd.map(\.purchase.transactionID) }
}
