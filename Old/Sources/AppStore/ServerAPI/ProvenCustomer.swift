public import Purchases

/// The customer whom a receipt with Apple's signature proves: where their history is found, and what it is told by.
///
/// Apple signs each transaction of a history, not whose history it is. One that shares nothing with the receipt is another
/// customer's, whoever mixed them up.
public struct ProvenCustomer: Hashable, Sendable {
    /// A transaction of theirs: any leads to the history.
    public let transactionID: TransactionID
    /// Its product, as far as the receipt says.
    let productID: ProductID?
    /// The transactions and original transactions that the receipt names.
    private let bought: Set<TransactionID>

    /// A customer by the purchases of their receipt.
    ///
    /// - Parameter entry: the purchase that leads to the history; nil if it has no transaction id.
    init?(_ entry: ReceiptPurchase, among purchases: [ReceiptPurchase]) {
        guard let transactionID = entry.transactionID else { return nil }
        self.init(
            transactionID, of: entry.productID,
            bought: Set(purchases.flatMap { [$0.transactionID, $0.originalTransactionID].compactMap { $0 } }))
    }

    /// A customer of whom a transaction is known, and perhaps others.
    public init(_ transactionID: TransactionID, of productID: ProductID? = nil, bought: Set<TransactionID> = []) {
        self.transactionID = transactionID
        self.productID = productID
        self.bought = bought.union([transactionID])
    }

    /// Whether the receipt names a transaction, as one of its own or as the one that it goes back to.
    func knows(_ transactionID: TransactionID) -> Bool { bought.contains(transactionID) }
}
