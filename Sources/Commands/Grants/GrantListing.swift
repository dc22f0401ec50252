import Contract
import Ledger

/// A page of grants, for people and as JSON.
struct GrantListing: Sendable {
    let rows: [GrantRow]
    /// Where the next page begins; nil after the last.
    let next: Int64?

    /// Empty without a grant.
    func text(width: Int?) -> String {
        guard !rows.isEmpty else { return "" }
        let table = TextTable(
            header: [
                "TRANSACTION", "APP", "USER", "PRODUCT", "GIVES", "ENVIRONMENT", "SUBMISSION", "GRANTED", "GRANT",
            ],
            rows: rows.map { row in
                let grant = row.grant
                return [
                    grant.transactionID.rawValue, grant.bundleID.rawValue, grant.userID.rawValue,
                    grant.productID.rawValue, Self.items(of: grant), grant.environment.rawValue,
                    grant.submissionID.rawValue, grant.grantedAt.rfc3339, grant.key.grantID.rawValue,
                ]
            }, keepsFirst: true)
        return table.text(maxWidth: width) + (next.map { "More: --before \($0)\n" } ?? "")
    }

    /// The items of a grant, such as `100 gems, 1 vip`.
    static func items(of grant: Grant) -> String {
        grant.items.map { "\($0.quantity) \($0.item)" }.joined(separator: ", ")
    }

    var json: JSON { JSON(grants: rows.map { GrantJSON($0.grant) }, next: next) }

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
    let verifiedBy: String
    let attempts: Int
    let receivedAt, grantedAt: String
    let origin: OriginJSON

    init(_ grant: Grant) {
        let grantID = grant.key.grantID
        grantId = grantID.rawValue
        key = grant.key.text
        eventId = GrantedEvent.id(of: grantID).rawValue
        submissionId = grant.submissionID.rawValue
        bundleId = grant.bundleID.rawValue
        userId = grant.userID.rawValue
        orderId = grant.orderID?.rawValue
        productId = grant.productID.rawValue
        productType = grant.productType.rawValue
        quantity = grant.quantity
        items = grant.items.map { ItemJSON(item: $0.item, quantity: $0.quantity) }
        transactionId = grant.transactionID.rawValue
        originalTransactionId = grant.originalTransactionID.rawValue
        environment = grant.environment.rawValue
        purchasedAt = grant.purchasedAt.rfc3339
        expiresAt = grant.expiresAt?.rfc3339
        verifiedBy = grant.verifiedBy
        attempts = grant.attempts
        receivedAt = grant.receivedAt.rfc3339
        grantedAt = grant.grantedAt.rfc3339
        origin = OriginJSON(grant.origin)
    }
}

/// The place of a record as JSON.
struct OriginJSON: Encodable {
    let topic: String
    let partition: Int32
    let offset: Int64

    init(_ origin: Origin) {
        topic = origin.topic
        partition = origin.partition
        offset = origin.offset
    }
}
