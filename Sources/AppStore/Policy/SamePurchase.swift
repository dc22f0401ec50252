import Contract

extension PurchaseCheck {
    /// The purchases, each with Apple's word on other transactions of the same purchase.
    ///
    /// A restore has a transaction id of its own, and one receipt or reply may have both transactions. A refund or an
    /// account token of one record counts for all, so that no claim can choose between them by its id.
    func agreed(_ purchases: [Purchase]) -> [Purchase] {
        guard purchases.count > 1 else { return purchases }
        let telling = purchases.filter { !$0.stands || $0.appAccountToken != nil }
        guard !telling.isEmpty else { return purchases }
        let others = Dictionary(grouping: telling) { names(of: $0).key }
        return purchases.map { purchase in
            let key = names(of: purchase).key
            return (others[key] ?? []).reduce(purchase) { $0.completed(from: $1, isPeriod: !key.isOfTransaction) }
        }
    }
}

extension Purchase {
    /// Whether Apple has neither taken it back nor replaced it.
    var stands: Bool { revokedAt == nil && !isUpgraded }

    /// The same purchase with what Apple says of another transaction of it.
    /// - Parameter isPeriod: Both are one period of a subscription, which Apple may charge, and refund, before it begins.
    fileprivate func completed(from other: Purchase, isPeriod: Bool) -> Purchase {
        var purchase = self
        purchase.appAccountToken = appAccountToken ?? other.appAccountToken
        // A refund from before it was of an earlier purchase, whose original's id it may still have.
        guard stands, !other.stands, isPeriod || other.revokedAt ?? purchasedAt >= purchasedAt else { return purchase }
        (purchase.revokedAt, purchase.isUpgraded) = (other.revokedAt, other.isUpgraded)
        return purchase
    }
}
