import Ledger
import Purchases

/// A page of grants, for people and as JSON.
struct GrantListing: Sendable {
    let rows: [GrantRow]
    /// Those of the grants that have one.
    var deliveries: [DeliveryRow] = []
    /// Where the next page begins; nil after the last.
    let next: Int64?

    func text(width: Int?) -> String {
        let table = TextTable(
            header: [
                "GRANT", "APP", "USER", "PRODUCT", "GIVES", "TRANSACTION", "ENVIRONMENT", "SUBMISSION", "GRANTED",
            ],
            rows: rows.map { row in
                let purchase = row.granted.purchase
                return [
                    row.grantID.rawValue, row.claimant.bundleID.rawValue, row.claimant.userID.rawValue,
                    purchase.productID.rawValue, Self.items(row.granted.items), purchase.transactionID.rawValue,
                    purchase.environment.rawValue, row.claimant.submissionID.rawValue, row.grantedAt.rfc3339,
                ]
            })
        // Few apps have deliveries, and a column for none would only take its width from others.
        let told = deliveries.map { "Delivery of \($0.grantID): \($0.words)\n" }.joined()
        return table.text(maxWidth: width) + told + (next.map { "More: --before \($0)\n" } ?? "")
    }

    /// What a grant gives, such as `100 gems, 1 vip`.
    static func items(_ items: [Item]) -> String {
        items.map { "\($0.quantity) \($0.item)" }.joined(separator: ", ")
    }

    var json: JSON {
        JSON(grants: rows.map { row in GrantJSON(row, deliveries.first { $0.grantID == row.grantID }) }, next: next)
    }

    struct JSON: Encodable {
        let grants: [GrantJSON]
        let next: Int64?
    }
}

/// A grant as JSON.
struct GrantJSON: Encodable {
    struct ItemJSON: Encodable {
        let item: String
        let quantity: Int
    }

    let grantId, key, eventId, submissionId, bundleId, userId: String
    let orderId: String?
    let productId, productType: String
    let quantity: Int
    let items: [ItemJSON]
    let transactionId, originalTransactionId, environment, purchasedAt: String
    let expiresAt: String?
    let verifiedBy, grantedAt: String
    /// Nil if its event was published at once.
    let delivery: DeliveryJSON?

    init(_ row: GrantRow, _ delivery: DeliveryRow?) {
        let purchase = row.granted.purchase
        grantId = row.grantID.rawValue
        key = row.key
        eventId = row.eventID.rawValue
        submissionId = row.claimant.submissionID.rawValue
        bundleId = row.claimant.bundleID.rawValue
        userId = row.claimant.userID.rawValue
        orderId = row.claimant.orderID?.rawValue
        productId = purchase.productID.rawValue
        productType = row.granted.type.rawValue
        quantity = purchase.quantity
        items = row.granted.items.map { ItemJSON(item: $0.item, quantity: $0.quantity) }
        transactionId = purchase.transactionID.rawValue
        originalTransactionId = purchase.originalTransactionID.rawValue
        environment = purchase.environment.rawValue
        purchasedAt = purchase.purchasedAt.rfc3339
        expiresAt = purchase.expiresAt?.rfc3339
        verifiedBy = row.verifiedBy.rawValue
        grantedAt = row.grantedAt.rfc3339
        self.delivery = delivery.map { DeliveryJSON($0) }
    }
}
