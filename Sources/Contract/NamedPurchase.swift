/// A purchase that Apple attests and that is not granted now, by the names that its grant would have.
///
/// The ledger is asked by these names, because a purchase that was granted before needs no mended rule of ours.
public struct NamedPurchase: Hashable, Sendable {
    /// So many are kept of one submission. With more, one of them may always be new.
    public static let most = 256

    public let transactionID: TransactionID
    public let productID: ProductID
    /// The key of its grant, and its environment.
    public let key: GrantKey

    public init(_ transactionID: TransactionID, of productID: ProductID, _ key: GrantKey) {
        self.transactionID = transactionID
        self.productID = productID
        self.key = key
    }

    /// The names of an attested purchase, by its kind.
    public init(_ purchase: Purchase, as type: ProductType) {
        self.init(purchase.transactionID, of: purchase.productID, GrantKey(of: purchase, type: type))
    }
}
