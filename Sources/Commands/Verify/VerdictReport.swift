import Contract

/// A verdict as JSON for people and scripts.
struct VerdictReport: Encodable {
    /// One step of the local check.
    struct Check: Encodable, Hashable {
        /// `outcome` is `passed`, `failed` or `skipped`; `detail` holds no evidence, token or secret.
        let check, outcome, detail: String
    }

    struct PurchaseJSON: Encodable {
        let transactionId, originalTransactionId: String
        let webOrderLineItemId: String?
        let productId, productType: String
        let quantity: Int
        let items: [GrantJSON.ItemJSON]
        let environment, purchasedAt: String
        let expiresAt: String?
        let ownership, grantKey: String
        let price: Int64?
        let currency, storefront: String?
    }

    let verdict: String
    let reason, detail, verifiedBy: String?
    let purchases: [PurchaseJSON]?
    let checks: [Check]
    let calls: [SingleVerification.Call]

    /// Whether the evidence holds a purchase that could be granted.
    var isVerified: Bool { verdict == "verified" }

    /// - Parameters:
    ///   - checks: the local check, step by step.
    ///   - calls: the calls to Apple, in order.
    init(_ verdict: Verdict, checks: [Check], calls: [SingleVerification.Call]) {
        self.checks = checks
        self.calls = calls
        switch verdict {
        case .verified(let purchases, let verifiedBy):
            self.verdict = "verified"
            (reason, detail, self.verifiedBy) = (nil, nil, verifiedBy.rawValue)
            self.purchases = purchases.map { PurchaseJSON($0) }
        case .rejected(let rejection):
            self.verdict = "rejected"
            (reason, detail, verifiedBy, self.purchases) = (rejection.reason.rawValue, rejection.detail, nil, nil)
        case .retry(let cause, _):
            self.verdict = "retry"
            (reason, detail) = (cause.rawValue, "A worker tries again until Apple answers.")
            (verifiedBy, self.purchases) = (nil, nil)
        case .doubt(let cause, let rejection):
            self.verdict = "doubt"
            reason = cause.rawValue
            detail = "A worker asks again, and fails it as \(rejection.reason.rawValue) if this lasts."
            (verifiedBy, self.purchases) = (nil, nil)
        case .hold(let cause, let detail):
            self.verdict = "hold"
            (reason, self.detail, verifiedBy, self.purchases) = (cause.rawValue, detail, nil, nil)
        }
    }
}

extension VerdictReport.PurchaseJSON {
    init(_ granted: GrantablePurchase) {
        let purchase = granted.purchase
        transactionId = purchase.transactionID.rawValue
        originalTransactionId = purchase.originalTransactionID.rawValue
        webOrderLineItemId = purchase.webOrderLineItemID
        productId = purchase.productID.rawValue
        productType = granted.type.rawValue
        quantity = purchase.quantity
        items = granted.items.map { GrantJSON.ItemJSON(item: $0.item, quantity: $0.quantity) }
        environment = purchase.environment.rawValue
        purchasedAt = purchase.purchasedAt.rfc3339
        expiresAt = purchase.expiresAt?.rfc3339
        ownership = purchase.ownership.rawValue
        grantKey = granted.grantKey.text
        price = purchase.payment?.price
        currency = purchase.payment?.currency
        storefront = purchase.payment?.storefront
    }
}
