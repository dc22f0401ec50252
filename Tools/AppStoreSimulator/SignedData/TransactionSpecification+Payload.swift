internal import Contract

extension TransactionSpecification {
    /// The members that Apple signs, with its names and forms: ids are texts, moments numbers of milliseconds.
    func payload(signedAt: Timestamp) -> JSONText {
        var members = JSONText()
        members.add("transactionId", purchase.transactionID.rawValue)
        members.add("originalTransactionId", purchase.originalTransactionID.rawValue)
        members.add("webOrderLineItemId", purchase.webOrderLineItemID.map { String($0) })
        members.add("bundleId", bundleID.rawValue)
        members.add("productId", purchase.productID.rawValue)
        if purchase.kind == .autoRenewable {
            members.add("subscriptionGroupIdentifier", SimulatedPurchase.subscriptionGroup)
        }
        members.add("purchaseDate", purchase.purchasedAt)
        members.add("originalPurchaseDate", purchase.originalPurchasedAt)
        members.add("expiresDate", purchase.expiresAt)
        members.add("quantity", Int64(purchase.quantity))
        members.add("type", purchase.kind.signedName)
        members.add("appAccountToken", purchase.appAccountToken)
        members.add("inAppOwnershipType", purchase.ownership.answeredName)
        members.add("signedDate", signedAt)
        if let revokedAt = purchase.cancelledAt {
            members.add("revocationReason", purchase.cancellationReason == "1" ? 1 : 0)
            members.add("revocationDate", revokedAt)
            members.add("revocationType", purchase.ownership == .familyShared ? "FAMILY_REVOKE" : "REFUND_FULL")
        }
        // Apple writes it only when it is true.
        if purchase.isUpgraded { members.add("isUpgraded", json: "true") }
        members.add("environment", environment.signedName)
        members.add("transactionReason", transactionReason)
        members.add("storefront", storefront)
        members.add("storefrontId", storefrontID)
        members.add("price", price)
        members.add("currency", currency)
        members.add("appTransactionId", appTransactionID)
        members.apply(changes)
        return members
    }
}
