public import Contract

/// A transaction as a receipt is to show it.
public struct SimulatedPurchase: Hashable, Sendable {
    /// Which lists of an answer show a transaction.
    public enum Placement: String, Hashable, Sendable, CaseIterable {
        /// `receipt.in_app` only, and the receipt itself.
        case inApp
        /// `latest_receipt_info` only, as a renewal made after the receipt.
        case latestReceiptInfo
        case both
    }

    /// Its own identifier; a restore or renewal has a new one.
    public var transactionID: TransactionID
    /// Of the first purchase, for a restore or renewal.
    public var originalTransactionID: TransactionID
    /// As set up in App Store Connect.
    public var productID: ProductID
    /// Written to the undocumented attribute 1707; decides whether a shared secret is asked for.
    public var kind: ProductType
    /// Written as given, be it allowed or not.
    public var quantity: Int
    /// When it was charged; receipts carry whole seconds.
    public var purchasedAt: Timestamp
    /// When the first purchase was charged.
    public var originalPurchasedAt: Timestamp
    /// End of the paid period; for auto-renewable subscriptions.
    public var expiresAt: Timestamp?
    /// When Apple refunded or revoked it.
    public var cancelledAt: Timestamp?
    /// "1" an issue within the app, "0" another reason; Apple sends it with a cancellation.
    public var cancellationReason: String?
    /// One per paid period; for auto-renewable subscriptions.
    public var webOrderLineItemID: Int64?
    /// Whether it was bought or shared within a family. Apple's replies say it, and receipts do not.
    public var ownership: Ownership
    /// The UUID the app set at purchase.
    public var appAccountToken: String?
    /// Whether the customer upgraded to another subscription before the period's end.
    public var isUpgraded: Bool
    /// Which lists of an answer show it.
    public var placement: Placement

    /// A transaction.
    ///
    /// - Parameters:
    ///   - originalTransactionID: nil for a first purchase.
    ///   - originalPurchasedAt: nil for a first purchase.
    ///   - placement: nil for where Apple shows this kind: subscriptions in both lists, everything else in `in_app`.
    public init(
        transactionID: TransactionID, originalTransactionID: TransactionID? = nil, productID: ProductID,
        kind: ProductType = .consumable, quantity: Int = 1, purchasedAt: Timestamp,
        originalPurchasedAt: Timestamp? = nil, expiresAt: Timestamp? = nil, cancelledAt: Timestamp? = nil,
        cancellationReason: String? = nil, webOrderLineItemID: Int64? = nil, ownership: Ownership = .purchased,
        appAccountToken: String? = nil, isUpgraded: Bool = false, placement: Placement? = nil
    ) {
        self.transactionID = transactionID
        self.originalTransactionID = originalTransactionID ?? transactionID
        self.productID = productID
        self.kind = kind
        self.quantity = quantity
        self.purchasedAt = purchasedAt
        self.originalPurchasedAt = originalPurchasedAt ?? purchasedAt
        self.expiresAt = expiresAt
        self.cancelledAt = cancelledAt
        self.cancellationReason = cancellationReason
        self.webOrderLineItemID = webOrderLineItemID
        self.ownership = ownership
        self.appAccountToken = appAccountToken
        self.isUpgraded = isUpgraded
        self.placement = placement ?? (kind == .autoRenewable ? .both : .inApp)
    }
}
