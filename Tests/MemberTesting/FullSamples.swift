public import Contract
import Cryptography

/// Samples in which each member says something, and others in which each member says something else.
public enum FullSamples {
    public static let noon = Timestamp(milliseconds: 1_795_953_600_000)

    public static let claimants = [
        Claimant(
            submissionID: "s1", userID: "player-1", bundleID: "com.example.game", orderID: "o1", traceparent: "00-1"),
        Claimant(
            submissionID: "s2", userID: "player-2", bundleID: "com.example.other", orderID: "o2", traceparent: "00-2"),
    ]

    public static let claims = [
        Claim(
            transactionID: "2002", productID: "com.example.pass",
            appAccountToken: "7e3fb20b-4cdb-47cc-936d-99d65f608138", environment: .sandbox,
            submittedAt: noon.advanced(by: .milliseconds(-9))),
        Claim(
            transactionID: "2012", productID: "com.example.gems",
            appAccountToken: "7e3fb20b-4cdb-47cc-936d-99d65f608139", environment: .production,
            submittedAt: noon.advanced(by: .milliseconds(-8))),
    ]

    public static let evidence: [Evidence] = [
        .receipt(base64: "cmVjZWlwdA=="), .signedTransaction("a.b.c"), .transactionID("2002"),
    ]

    public static let submissions = [submission(evidence[0]), submission(evidence[1], 1)]

    public static func submission(_ evidence: Evidence, _ number: Int = 0) -> Submission {
        Submission(
            claimant: claimants[number], claim: claims[number], evidence: evidence, origin: origins[number],
            receivedAt: noon.advanced(by: .milliseconds(Int64(number - 5))))
    }

    public static let origins = [
        Origin(topic: "receipts.submitted", partition: 3, offset: 7), Origin(topic: "others", partition: 4, offset: 8),
    ]

    static let holding = PassedOver.Holding(
        .partialRefund,
        NamedPurchase("97", of: "com.example.part", GrantKey(environment: .sandbox, name: "t:97")))

    /// A purchase that was left out holds nothing, so that a repeat of it is answered.
    public static let passedOver = [
        PassedOver(
            named: [PassedOver.Entry("99", "com.example.old", .subscriptionExpired)], counts: [.subscriptionExpired: 2],
            holding: [holding]),
        PassedOver(
            named: [PassedOver.Entry("98", "com.example.back", .transactionRevoked)], counts: [.transactionRevoked: 3],
            holding: [PassedOver.Holding(.advancedCommerce, holding.purchase)]),
    ]

    public static func purchase(_ transaction: TransactionID = "2002", lineItem: String = "77") -> Purchase {
        Purchase(
            transactionID: transaction, originalTransactionID: "2001", webOrderLineItemID: lineItem,
            productID: product.id, quantity: 3, environment: .sandbox, purchasedAt: noon,
            expiresAt: noon.advanced(by: .milliseconds(3)), revokedAt: noon.advanced(by: .milliseconds(2)),
            isUpgraded: true, ownership: .familyShared, appAccountToken: "7e3fb20b-4cdb-47cc-936d-99d65f608138",
            type: .autoRenewable, payment: Payment(price: 990, currency: "EUR", storefront: "DEU"),
            offer: Offer(kind: .promotional, discountType: .payUpFront))
    }

    static let product = Product(
        id: "com.example.pass", type: .autoRenewable, items: [Item(item: "ge:ms,1", quantity: 2)])

    /// The purchase with its product and what is left out beside it; nil only for quantities that it does not have.
    public static func granted(_ transaction: TransactionID = "2002", lineItem: String = "77") -> GrantablePurchase? {
        var granted = GrantablePurchase(purchase(transaction, lineItem: lineItem), of: product)
        granted?.passedOver = passedOver[0]
        return granted
    }

    public static let grants = [
        Grant(
            key: GrantKey(environment: .sandbox, name: "w:77"), transactionID: "2002", originalTransactionID: "2001",
            webOrderLineItemID: "77", product: product, quantity: 3, purchasedAt: noon,
            expiresAt: noon.advanced(by: .milliseconds(3)), ownership: .familyShared, payment: purchase().payment,
            offer: purchase().offer, verifiedBy: "serverAPI", claimant: claimants[0], origin: origins[0],
            receivedAt: noon, grantedAt: noon, attempts: 4, format: .v1, passedOver: passedOver[0]),
        Grant(
            key: GrantKey(environment: .production, name: "w:78"), transactionID: "2012",
            originalTransactionID: "2011", webOrderLineItemID: "78",
            product: Product(id: "com.example.gems", type: .consumable, items: []), quantity: 4, purchasedAt: later,
            expiresAt: later, ownership: .purchased, payment: Payment(price: 1, currency: "USD", storefront: "USA"),
            offer: Offer(kind: .winBack, discountType: .oneTime), verifiedBy: "local", claimant: claimants[1],
            origin: origins[1], receivedAt: later, grantedAt: later, attempts: 5, format: .v1,
            passedOver: passedOver[1]),
    ]

    private static let later = noon.advanced(by: .milliseconds(60_000))

    public static let rejection = Rejection(
        .productMismatch, "Another product.", transactionID: "2002", productID: "com.example.pass")

    public static let failures = [
        Failure(
            of: claimants[0], rejection, failedAt: noon, attempts: 4, digest: ClaimDigest(of: submissions[0]),
            origin: origins[0]),
        Failure(
            claimant: claimants[1], reason: "account_gone", detail: "Gone.", transactionID: "2012",
            productID: "com.example.gems", failedAt: later, attempts: 5, digest: ClaimDigest(of: submissions[1]),
            origin: origins[1], format: .v1),
    ]
}
