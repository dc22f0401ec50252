/// `purchases.granted`: this purchase was given to this user. Written once per grant.
public struct GrantedEvent: Sendable {
    /// `ce_type` of the event.
    public static let type = "com.grantor.purchase.granted.v1"
    private static let typeHeader = CloudEvent.typeHeader(type)

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
        let time = grantedAt.rfc3339
        return Event(
            id: id, kind: .granted, key: Array(claim.userID.rawValue.utf8),
            headers: CloudEvent.headers(
                id: id, type: typeHeader, subject: purchase.transactionID.rawValue, time: time,
                traceparent: claim.traceparent),
            value: body(
                id: id, grant: grant, of: granted, to: claim, by: verifiedBy, grantedAt: time))
    }

    /// What a grant gives, as JSON: the array that stands in the event, for the ledger's own row.
    package static func array(of items: [Item]) -> [UInt8] {
        var writer = JSONObjectWriter()
        writer.member("items", objects: items, write)
        return Array(writer.finished().dropFirst(#"{"items":"#.utf8.count).dropLast())
    }

    private static func write(_ item: Item, into object: inout JSONObjectWriter) {
        object.member("item", item.item)
        object.member("quantity", Int64(item.quantity))
    }

    private static func body(
        id: EventID, grant: GrantID, of granted: GrantablePurchase, to claim: Claimant, by verifiedBy: VerifiedBy,
        grantedAt: String
    ) -> [UInt8] {
        let purchase = granted.purchase
        let payment = purchase.payment
        var body = JSONObjectWriter()
        body.member("bundleId", claim.bundleID.rawValue)
        body.member("currency", payment?.currency)
        body.member("environment", purchase.environment.rawValue)
        body.member("eventId", id.rawValue)
        body.member("expiresAt", purchase.expiresAt?.rfc3339)
        body.member("grantId", grant.rawValue)
        body.member("grantedAt", grantedAt)
        body.member("items", objects: granted.items, write)
        body.member("orderId", claim.orderID?.rawValue)
        body.member("originalTransactionId", purchase.originalTransactionID.rawValue)
        body.member("ownership", purchase.ownership.rawValue)
        // A price says nothing without its currency.
        body.member("price", payment?.currency == nil ? nil : payment?.price)
        body.member("productId", purchase.productID.rawValue)
        body.member("productType", granted.type.rawValue)
        body.member("purchasedAt", purchase.purchasedAt.rfc3339)
        body.member("quantity", Int64(purchase.quantity))
        body.member("storefront", payment?.storefront)
        body.member("submissionId", claim.submissionID.rawValue)
        body.member("transactionId", purchase.transactionID.rawValue)
        body.member("userId", claim.userID.rawValue)
        body.member("verifiedBy", verifiedBy.rawValue)
        body.member("webOrderLineItemId", purchase.webOrderLineItemID)
        return body.finished()
    }
}
