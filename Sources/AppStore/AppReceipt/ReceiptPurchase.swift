public import Contract

/// One in-app purchase of a receipt, read leniently and not authenticated.
public struct ReceiptPurchase: Hashable, Sendable {
    /// Attribute 1701.
    public let quantity: Int64?
    /// Attribute 1702.
    public let productID: ProductID?
    /// Attribute 1703.
    public let transactionID: TransactionID?
    /// Attribute 1704.
    public let purchasedAt: Timestamp?
    /// Attribute 1705; Xcode writes none.
    public let originalTransactionID: TransactionID?
    /// Attribute 1706; Xcode writes none.
    public let originallyPurchasedAt: Timestamp?
    /// Attribute 1708; auto-renewable subscriptions only.
    public let expiresAt: Timestamp?
    /// Attribute 1711; auto-renewable subscriptions only, 0 elsewhere.
    public let webOrderLineItemID: String?
    /// Attribute 1712. It is present and empty while the purchase stands, which is nil here.
    public let revokedAt: Timestamp?
    /// Attributes 1713 and 1719: a free trial, or another introductory offer; auto-renewable subscriptions only.
    public let offer: Offer?

    /// Whether a quantity, an end, an order line or a cancellation is there that cannot be read: a grant depends on each.
    let hasUnreadablePart: Bool

    static let transactionIDType = 1703

    /// Reads the value of an attribute 17; nil if it is no set of attributes.
    init?(_ value: ArraySlice<UInt8>) {
        guard let attributes = ReceiptAttributes(set: value) else { return nil }
        quantity = attributes.integer(1701)
        productID = attributes.text(1702).map { ProductID($0) }
        transactionID = attributes.text(Self.transactionIDType).map { TransactionID($0) }
        purchasedAt = attributes.moment(1704)
        originalTransactionID = attributes.text(1705).map { TransactionID($0) }
        originallyPurchasedAt = attributes.moment(1706)
        expiresAt = attributes.moment(1708)
        webOrderLineItemID = attributes.integer(1711).flatMap { $0 == 0 ? nil : String($0) }
        revokedAt = attributes.moment(1712)
        hasUnreadablePart =
            [1708, 1712].contains { attributes.holdsValue($0) && attributes.moment($0) == nil }
            || [1701, 1711].contains { attributes.holdsValue($0) && attributes.integer($0) == nil }
        offer =
            if attributes.integer(1713) == 1 {
                Offer(kind: .trial, discountType: .freeTrial)
            } else if attributes.integer(1719) == 1 {
                Offer(kind: .introductory)
            } else {
                nil
            }
    }

    /// The purchase, if the entry has everything that a grant needs in a form this version knows; nil otherwise.
    ///
    /// Its type is not in a receipt (attribute 1707 is not documented), nor is who it belongs to within a family.
    func purchase(in environment: Environment) -> Purchase? {
        guard let transactionID, transactionID.isWellFormed, let originalTransactionID,
            originalTransactionID.isWellFormed, let productID, let purchasedAt, !hasUnreadablePart
        else { return nil }
        return Purchase(
            transactionID: transactionID, originalTransactionID: originalTransactionID,
            webOrderLineItemID: webOrderLineItemID, productID: productID, quantity: quantity.map(Int.init) ?? 1,
            environment: environment, purchasedAt: purchasedAt, expiresAt: expiresAt, revokedAt: revokedAt,
            offer: offer)
    }
}
