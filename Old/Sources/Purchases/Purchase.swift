/// Apple's two worlds. A purchase belongs to one; nothing that is true in one holds in the other.
///
/// The word is Apple's own (`environment` in receipts and signed transactions).
public enum Environment: String, Sendable, CaseIterable {
    case production
    case sandbox
}

/// Who a purchase belongs to, in Apple's terms (`in_app_ownership_type`).
public enum Ownership: String, Sendable {
    case purchased
    case familyShared
}

/// How a purchase was proven.
public enum VerifiedBy: String, Sendable, CaseIterable {
    /// Apple's verifyReceipt endpoint answered for the receipt.
    case verifyReceipt
    /// Apple's signature on the transaction holds; nobody was asked.
    case signedTransaction
    /// The App Store Server API answered for the transaction.
    case serverAPI
    /// Apple's signature on the receipt holds; nobody was asked.
    case local
}

/// One transaction as Apple attests it. Nothing in it comes from the submission.
public struct Purchase: Hashable, Sendable {
    public let transactionID: TransactionID
    /// Equal to ``transactionID`` for a first purchase; of the first purchase for a restore or renewal.
    public let originalTransactionID: TransactionID
    /// Present on auto-renewable subscriptions only; one per paid period, the same after a restore.
    public let webOrderLineItemID: String?
    public let productID: ProductID
    /// As attested, unchecked: Apple allows 1 to 10 for consumables and non-renewing subscriptions.
    public let quantity: Int
    public let environment: Environment
    public let purchasedAt: Timestamp
    /// End of the paid period; subscriptions only.
    public let expiresAt: Timestamp?
    /// When Apple refunded or revoked it; nil while it stands.
    public let revokedAt: Timestamp?
    /// True when the customer upgraded to another subscription of the group before this period's end.
    public let isUpgraded: Bool
    public let ownership: Ownership
    /// The UUID the app set at purchase, lower case; nil where Apple has none.
    public let appAccountToken: String?
    /// Its kind; nil where the evidence does not say it, as receipts do not.
    public let type: ProductType?
    /// What was paid and where; nil where the evidence does not say it.
    public let payment: Payment?

    /// A transaction as read from evidence.
    public init(
        transactionID: TransactionID, originalTransactionID: TransactionID, webOrderLineItemID: String? = nil,
        productID: ProductID, quantity: Int = 1, environment: Environment, purchasedAt: Timestamp,
        expiresAt: Timestamp? = nil, revokedAt: Timestamp? = nil, isUpgraded: Bool = false,
        ownership: Ownership = .purchased, appAccountToken: String? = nil,
        type: ProductType? = nil, payment: Payment? = nil
    ) {
        self.transactionID = transactionID
        self.originalTransactionID = originalTransactionID
        self.webOrderLineItemID = webOrderLineItemID
        self.productID = productID
        self.quantity = quantity
        self.environment = environment
        self.purchasedAt = purchasedAt
        self.expiresAt = expiresAt
        self.revokedAt = revokedAt
        self.isUpgraded = isUpgraded
        self.ownership = ownership
        self.appAccountToken = appAccountToken
        self.type = type
        self.payment = payment
    }
}

/// What a customer paid, as Apple attests it. For analysis only: no grant depends on it.
public struct Payment: Hashable, Sendable {
    /// Thousandths of the currency's unit, for the whole quantity, after discounts; never negative. Nil where Apple has none.
    public let price: Int64?
    /// ISO 4217, such as `EUR`.
    public let currency: String?
    /// ISO 3166-1 alpha-3, such as `DEU`.
    public let storefront: String?

    /// What of it Apple attests.
    public init(price: Int64?, currency: String?, storefront: String?) {
        self.price = price
        self.currency = currency
        self.storefront = storefront
    }
}

/// A purchase that passed every check, with what it gives: ready to be granted.
public struct GrantablePurchase: Hashable, Sendable {
    public let purchase: Purchase
    /// The attested kind, else the catalogue's.
    public let type: ProductType
    /// What the player gets in all: units of the product times the purchase's quantity.
    public let items: [Item]

    /// Joins an attested purchase with what the catalogue says it gives.
    public init(purchase: Purchase, type: ProductType, items: [Item]) {
        self.purchase = purchase
        self.type = type
        self.items = items
    }
}
