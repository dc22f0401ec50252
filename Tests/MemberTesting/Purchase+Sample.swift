public import Contract

extension Purchase {
    /// A first purchase, which nothing speaks against. A test names the members that it depends on.
    public static func sample(
        _ id: TransactionID, original: TransactionID? = nil, lineItem: String? = nil, product: ProductID = "gems",
        quantity: Int = 1, environment: Environment = .production, at purchasedAt: Timestamp = FullSamples.noon,
        payment: Payment? = nil, offer: Offer? = nil
    ) -> Purchase {
        Purchase(
            transactionID: id, originalTransactionID: original ?? id, webOrderLineItemID: lineItem, productID: product,
            quantity: quantity, environment: environment, purchasedAt: purchasedAt, expiresAt: nil, revokedAt: nil,
            isUpgraded: false, ownership: .purchased, appAccountToken: nil, type: nil, payment: payment, offer: offer)
    }
}
