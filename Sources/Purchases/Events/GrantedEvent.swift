/// `purchases.granted`: this purchase was given to this user. Written once per grant.
public struct GrantedEvent: Sendable {
    /// `ce_type` of the event.
    public static let type = "com.grantor.purchase.granted.v1"

    /// The id of the event that tells of a grant.
    public static func id(of grant: GrantID) -> EventID {
        EventID(NameBasedUUID.text(namespace: NameBasedUUID.events, name: "granted:" + grant.rawValue))
    }

    /// Makes the event of a grant, ready to be published.
    ///
    /// - Parameters:
    ///   - claim: the submission that was granted.
    ///   - grantedAt: the grant's own time, as in the ledger.
    public static func event(
        grant: GrantID, of granted: GrantablePurchase, to claim: Claimant, by verifiedBy: VerifiedBy,
        grantedAt: Timestamp
    ) -> Event {
        let id = id(of: grant)
        let purchase = granted.purchase
        let body = Body(
            eventId: id.rawValue, grantId: grant.rawValue, submissionId: claim.submissionID.rawValue,
            orderId: claim.orderID?.rawValue, userId: claim.userID.rawValue, bundleId: claim.bundleID.rawValue,
            environment: purchase.environment.rawValue, productId: purchase.productID.rawValue,
            productType: granted.type.rawValue, quantity: purchase.quantity,
            items: granted.items.map { Body.Item(item: $0.item, quantity: $0.quantity) },
            transactionId: purchase.transactionID.rawValue,
            originalTransactionId: purchase.originalTransactionID.rawValue,
            webOrderLineItemId: purchase.webOrderLineItemID, purchasedAt: purchase.purchasedAt.rfc3339,
            expiresAt: purchase.expiresAt?.rfc3339, grantedAt: grantedAt.rfc3339,
            ownership: purchase.ownership.rawValue, verifiedBy: verifiedBy.rawValue)
        return Event(
            id: id, kind: .granted, key: Array(claim.userID.rawValue.utf8),
            headers: CloudEvent.headers(
                id: id, type: type, subject: purchase.transactionID.rawValue, time: grantedAt,
                traceparent: claim.traceparent),
            value: CloudEvent.body(body))
    }

    private struct Body: Encodable {
        struct Item: Encodable {
            let item: String
            let quantity: Int
        }

        let eventId, grantId, submissionId: String
        let orderId: String?
        let userId, bundleId, environment, productId, productType: String
        let quantity: Int
        let items: [Item]
        let transactionId, originalTransactionId: String
        let webOrderLineItemId: String?
        let purchasedAt: String
        let expiresAt: String?
        let grantedAt, ownership, verifiedBy: String
    }
}
