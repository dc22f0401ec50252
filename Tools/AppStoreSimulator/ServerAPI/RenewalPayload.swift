internal import Contract

extension Registration {
    /// Apple's signed word on whether a subscription goes on: JWSRenewalInfoDecodedPayload.
    func renewalPayload(now: Timestamp) -> JSONText {
        let status = status(now: now)
        let purchase = transaction.purchase
        var members = JSONText()
        members.add("originalTransactionId", purchase.originalTransactionID.rawValue)
        members.add("autoRenewProductId", purchase.productID.rawValue)
        members.add("productId", purchase.productID.rawValue)
        members.add("autoRenewStatus", status == .expired || status == .revoked ? 0 : 1)
        // 1: the customer ended it; 2: the payment failed.
        switch status {
        case .active: break
        case .expired, .revoked: members.add("expirationIntent", 1)
        case .billingRetry, .gracePeriod: members.add("expirationIntent", 2)
        }
        if status == .billingRetry || status == .gracePeriod {
            members.add("isInBillingRetryPeriod", json: "true")
        }
        if status == .gracePeriod { members.add("gracePeriodExpiresDate", now.advanced(by: .seconds(86_400))) }
        members.add("signedDate", now)
        members.add("environment", transaction.environment.signedName)
        members.add("recentSubscriptionStartDate", purchase.originalPurchasedAt)
        if status == .active { members.add("renewalDate", purchase.expiresAt) }
        members.add("renewalPrice", transaction.price)
        members.add("currency", transaction.currency)
        members.add("appTransactionId", transaction.appTransactionID)
        members.add("appAccountToken", purchase.appAccountToken)
        return members
    }
}
