public import Contract

/// The contents of a signed transaction: Apple's JWSTransactionDecodedPayload.
public struct TransactionSpecification: Hashable, Sendable {
    public var bundleID: BundleID
    /// Which of Apple's worlds knows it. For `Xcode` and others, change the member `environment`.
    public var environment: Environment
    /// The transaction itself. ``SimulatedPurchase/placement`` is of no consequence here, and of
    /// ``SimulatedPurchase/cancellationReason`` only `0` and `1` are told.
    public var purchase: SimulatedPurchase
    /// Thousandths of the currency's unit, for the whole quantity; nil leaves it out.
    public var price: Int64?
    /// ISO 4217; nil leaves it out.
    public var currency: String?
    /// ISO 3166-1 alpha-3; nil leaves it out.
    public var storefront: String?
    /// Apple's number for the storefront; nil leaves it out.
    public var storefrontID: String?
    /// `PURCHASE` or `RENEWAL`.
    public var transactionReason: String
    /// One per customer and app: transactions that share it are one customer's history.
    public var appTransactionID: String
    /// Applied last, in order, before it is signed.
    public var changes: [MemberChange]

    /// A transaction, bought for 0.99 USD in the United States unless said otherwise.
    ///
    /// - Parameters:
    ///   - transactionReason: nil for `RENEWAL` if it is a later period of an auto-renewable subscription, else
    ///     `PURCHASE`.
    ///   - appTransactionID: nil for one derived from the original transaction: a customer who bought nothing else.
    public init(
        _ purchase: SimulatedPurchase, bundleID: BundleID, environment: Environment, price: Int64? = 990,
        currency: String? = "USD", storefront: String? = "USA", storefrontID: String? = "143441",
        transactionReason: String? = nil, appTransactionID: String? = nil, changes: [MemberChange] = []
    ) {
        let isRenewal =
            purchase.kind == .autoRenewable && purchase.transactionID != purchase.originalTransactionID
        self.bundleID = bundleID
        self.environment = environment
        self.purchase = purchase
        self.price = price
        self.currency = currency
        self.storefront = storefront
        self.storefrontID = storefrontID
        self.transactionReason = transactionReason ?? (isRenewal ? "RENEWAL" : "PURCHASE")
        self.appTransactionID = appTransactionID ?? "704" + purchase.originalTransactionID.rawValue
        self.changes = changes
    }
}
