internal import Contract

/// Attribute types of a receipt's payload (Apple, "Receipt fields"; those without a public name are marked).
enum ReceiptAttribute {
    static let receiptType = 0
    /// Undocumented: the app's Apple id.
    static let appAppleID = 1
    static let bundleID = 2
    static let applicationVersion = 3
    static let opaqueValue = 4
    static let digest = 5
    /// Undocumented: encrypted in Apple's receipts.
    static let encrypted = 6
    /// Undocumented: encrypted in Apple's receipts; here it brings a receipt to the size that was asked for.
    static let padding = 7
    /// Undocumented: an empty text.
    static let emptyText = 8
    static let creationDate = 12
    static let purchase = 17
    /// Undocumented: when the app was bought.
    static let originalPurchaseDate = 18
    static let originalApplicationVersion = 19
    static let expirationDate = 21
    /// Undocumented, and small integers in every receipt.
    static let fillers = [9, 10, 11, 13, 14, 15, 16, 20, 25]
    /// The simulator's own: a purchase shown in `latest_receipt_info` only. Apple's receipts do not hold those.
    static let laterPurchase = 9017
}

/// Attribute types of one purchase within a receipt.
enum PurchaseAttribute {
    static let quantity = 1701
    static let productID = 1702
    static let transactionID = 1703
    static let purchaseDate = 1704
    static let originalTransactionID = 1705
    static let originalPurchaseDate = 1706
    /// Undocumented: the product's type.
    static let kind = 1707
    static let expiresDate = 1708
    static let webOrderLineItemID = 1711
    static let cancellationDate = 1712
    /// Undocumented: whether it is a trial.
    static let isTrial = 1713
    static let isIntroductoryOffer = 1719
    /// Undocumented, and small integers or empty texts in every receipt.
    static let fillers = [1709, 1710, 1714, 1715, 1716, 1717, 1718]
    /// The simulator's own: what Apple's servers know and its receipts do not say.
    static let ownership = 9701
    static let appAccountToken = 9702
    static let isUpgraded = 9703
    static let cancellationReason = 9704
    static let inBothLists = 9705
}

extension ProductType {
    /// The value of attribute 1707.
    var receiptValue: Int64 {
        switch self {
        case .nonConsumable: 0
        case .consumable: 1
        case .nonRenewing: 2
        case .autoRenewable: 3
        }
    }

    init?(receiptValue: Int64) {
        guard let match = Self.allCases.first(where: { $0.receiptValue == receiptValue }) else { return nil }
        self = match
    }
}
