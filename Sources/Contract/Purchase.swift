/// Apple's two environments. A purchase belongs to one; nothing that is true in one holds in the other.
///
/// The word is Apple's own (`environment` in receipts and signed transactions).
public enum Environment: String, Hashable, Sendable, Codable, CaseIterable {
    case production
    case sandbox
}

/// The kind of owner that a purchase has, in Apple's terms (`in_app_ownership_type`).
public enum Ownership: String, Hashable, Sendable {
    case purchased
    case familyShared
}

/// How a purchase was proven.
public enum VerifiedBy: String, Hashable, Sendable, CaseIterable {
    /// Apple's verifyReceipt endpoint confirmed the receipt.
    case verifyReceipt
    /// Apple's signature on the transaction holds; no call was made.
    case signedTransaction
    /// The App Store Server API confirmed the transaction.
    case serverAPI
    /// Apple's signature on the receipt holds; no call was made.
    case local
    /// Not verified: another system had granted it before Grantor came into use, see `grantor grants import`.
    case imported = "import"
}

/// A customer's payment, as Apple attests it. For analysis only: no grant depends on it.
public struct Payment: Hashable, Sendable {
    /// Thousandths of the currency's unit, for the whole quantity, after discounts; never negative. Nil where Apple has
    /// none.
    public let price: Int64?
    /// ISO 4217, such as `EUR`.
    public let currency: String?
    /// ISO 3166-1 alpha-3, such as `DEU`.
    public let storefront: String?

    public init(price: Int64?, currency: String?, storefront: String?) {
        self.price = price
        self.currency = currency
        self.storefront = storefront
    }
}

/// The offer that a purchase was made under, as Apple attests it. For analysis only: no grant depends on it.
///
/// Signed transactions say it by `offerType` and `offerDiscountType`, receipts by `is_trial_period`,
/// `is_in_intro_offer_period`, `promotional_offer_id` and `offer_code_ref_name`.
public struct Offer: Hashable, Sendable {
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// An introductory offer that costs nothing.
        case trial
        case introductory
        case promotional
        case winBack
        case offerCode
    }

    public enum DiscountType: String, Hashable, Sendable, CaseIterable {
        case freeTrial
        case payAsYouGo
        case payUpFront
        case oneTime
    }

    public let kind: Kind
    /// Nil where Apple does not say it.
    public let discountType: DiscountType?

    public init(kind: Kind, discountType: DiscountType?) {
        self.kind = kind
        self.discountType = discountType
    }
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
    public var revokedAt: Timestamp?
    /// True when the customer upgraded to another subscription of the group before this period's end.
    public var isUpgraded: Bool
    public let ownership: Ownership
    /// The UUID the app set at purchase, lower case; nil where Apple has none, or where the evidence cannot say it.
    public var appAccountToken: String?
    /// Its kind; nil where the evidence does not say it, as receipts do not.
    public let type: ProductType?
    /// The price and where it was paid; nil where the evidence does not say it.
    public let payment: Payment?
    /// Nil for a purchase at the usual price.
    public let offer: Offer?

    public init(
        transactionID: TransactionID, originalTransactionID: TransactionID, webOrderLineItemID: String?,
        productID: ProductID, quantity: Int, environment: Environment, purchasedAt: Timestamp, expiresAt: Timestamp?,
        revokedAt: Timestamp?, isUpgraded: Bool, ownership: Ownership, appAccountToken: String?, type: ProductType?,
        payment: Payment?, offer: Offer?
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
        self.offer = offer
    }
}

/// The four kinds of in-app purchase, as App Store Connect has them.
///
/// The kind decides what makes a purchase the same purchase when it is seen again, see ``GrantKey``.
public enum ProductType: String, Hashable, Sendable, CaseIterable {
    case consumable
    case nonConsumable
    case nonRenewing
    case autoRenewable
}

/// Something a player gets, and how much of it.
public struct Item: Hashable, Sendable {
    /// The platform's own name of the thing, such as `gems`.
    public let item: String
    /// How much of it; at least 1.
    public let quantity: Int

    public init(item: String, quantity: Int) {
        self.item = item
        self.quantity = quantity
    }
}

/// One unit of a product, with its items.
public struct Product: Hashable, Sendable {
    public let id: ProductID
    /// Its kind; Apple's receipts do not say it, so the catalogue does.
    public let type: ProductType
    /// The items that one unit gives.
    public let items: [Item]

    public init(id: ProductID, type: ProductType, items: [Item]) {
        self.id = id
        self.type = type
        self.items = items
    }

    /// The items that so many units give; nil if a number grows beyond `Int`.
    public func items(times quantity: Int) -> [Item]? {
        if quantity == 1 { return items }
        var all: [Item] = []
        all.reserveCapacity(items.count)
        for item in items {
            let (product, overflow) = item.quantity.multipliedReportingOverflow(by: quantity)
            guard !overflow else { return nil }
            all.append(Item(item: item.item, quantity: product))
        }
        return all
    }
}

/// A purchase that passed every check, with its items: ready to be granted.
public struct GrantablePurchase: Hashable, Sendable {
    public let purchase: Purchase
    /// One unit and its items. The type is the one that Apple attests, else the catalogue's.
    public let product: Product
    /// Everything that the player gets: the product's items times the purchase's quantity.
    public let items: [Item]
    /// Purchases left out beside it. Set on the newest purchase of a verdict alone.
    public var passedOver: PassedOver?

    /// Joins an attested purchase with what its product gives; nil if a number of items grows beyond `Int`.
    public init?(_ purchase: Purchase, of product: Product) {
        guard let items = product.items(times: purchase.quantity) else { return nil }
        self.purchase = purchase
        self.product = product
        self.items = items
    }

    public var type: ProductType { product.type }

    /// The key under which it may be granted once.
    public var grantKey: GrantKey { GrantKey(of: purchase, type: product.type) }
}

/// The identity of a purchase, the same whenever it is seen again: at most one grant exists per key, for ever.
///
/// The name is `t:<id>` for everything but auto-renewable subscriptions. A paid period has `w:<id>`, or
/// `p:<id>:<milliseconds>` if Apple gave it no line item. Consumables and durable products share `t`, so that a
/// corrected product type in the catalogue does not make a granted purchase look new.
public struct GrantKey: Hashable, Sendable, CustomStringConvertible {
    public let environment: Environment
    /// Unique within the environment.
    public let name: String

    /// The key of a purchase, by its kind.
    ///
    /// A restore of anything but a consumable has a new transaction id, so the original's counts.
    public init(of purchase: Purchase, type: ProductType) {
        environment = purchase.environment
        name =
            switch type {
            case .consumable: "t:" + purchase.transactionID.rawValue
            case .nonConsumable, .nonRenewing: "t:" + purchase.originalTransactionID.rawValue
            case .autoRenewable:
                if let lineItem = purchase.webOrderLineItemID {
                    "w:" + lineItem
                } else {
                    "p:\(purchase.originalTransactionID):\(purchase.purchasedAt.milliseconds)"
                }
            }
    }

    /// The key of a purchase whose kind is not known. A period without a line item has another one.
    public init(in environment: Environment, lineItem: String?, original: TransactionID) {
        self.init(environment: environment, name: lineItem.map { "w:" + $0 } ?? "t:" + original.rawValue)
    }

    public init(environment: Environment, name: String) {
        self.environment = environment
        self.name = name
    }

    /// Whether it names a transaction, and not a period of a subscription.
    public var isOfTransaction: Bool { name.hasPrefix("t:") }

    /// Environment and name: `production:t:2000000123456789`.
    public var text: String { environment.rawValue + ":" + name }

    public var grantID: GrantID { GrantID(NameBasedUUID.text(namespace: NameBasedUUID.grants, name: text)) }

    public var description: String { text }
}
