import Contract

/// The customer whom a receipt proves: where their history is found, and by which purchases it is known.
///
/// Apple signs each transaction of a history, not whose history it is. One that shares nothing with the receipt is
/// another customer's, whoever mixed them up.
struct ProvenCustomer: Hashable, Sendable {
    /// A transaction of theirs: any leads to the history.
    let transactionID: TransactionID
    /// Its product, as far as the receipt says.
    let productID: ProductID?
    /// The transactions and original transactions that the receipt names.
    private let bought: Set<TransactionID>

    /// A customer of whom a transaction is known, and perhaps others.
    init(_ transactionID: TransactionID, of productID: ProductID? = nil, bought: Set<TransactionID> = []) {
        self.transactionID = transactionID
        self.productID = productID
        self.bought = bought.union([transactionID])
    }

    /// Whether the receipt names a transaction, as one of its own or as the one that it goes back to.
    func knows(_ transactionID: TransactionID) -> Bool { bought.contains(transactionID) }
}

/// The pages of a history, put together.
///
/// A transaction that changes while the pages are read is sent again, as one that was refunded in between. The latest
/// word on it counts: with both, the older one would be granted.
struct PurchaseHistory: Sendable {
    /// Most transactions that are kept: one customer's, in one app.
    static let maxTransactions = 10_000

    private struct Entry {
        var signedAt: Timestamp
        var purchase: Purchase?
    }

    private var entries: [Entry] = []
    private var places: [TransactionID: Int] = [:]
    private var ids: [TransactionID] = []
    private var hasNameless = false

    /// Whether nothing was added that has an id.
    var isEmpty: Bool { entries.isEmpty }

    /// Whether it holds more than it may.
    var isTooLong: Bool { entries.count > Self.maxTransactions }

    /// Whether it holds a purchase that a customer is known by, or one that goes back to such a purchase.
    func holdsAny(of customer: ProvenCustomer) -> Bool {
        ids.contains(where: customer.knows)
            || entries.contains { ($0.purchase?.originalTransactionID).map(customer.knows) ?? false }
    }

    /// Takes a transaction whose signature held. One without a bundle id may be anybody's, so it can be claimed and not
    /// granted.
    mutating func add(_ transaction: SignedTransaction) {
        let purchase = transaction.bundleID == nil ? nil : try? transaction.purchase.get()
        let entry = Entry(signedAt: transaction.signedAt, purchase: purchase)
        guard let id = transaction.transactionID else {
            hasNameless = true
            return
        }
        if let place = places[id] {
            // Of two that were signed at the same moment the one that came later.
            if entry.signedAt >= entries[place].signedAt { entries[place] = entry }
        } else {
            places[id] = entries.count
            entries.append(entry)
            ids.append(id)
        }
    }

    /// The verdict on all of it. Apple signs what it sends, so a purchase that cannot be read and may be the claimed
    /// one is never the player's fault.
    func verdict(_ policy: ClaimPolicy) -> Verdict {
        var unreadable = UnreadablePurchases()
        if hasNameless { unreadable.append(transactionID: nil, productID: nil) }
        for (id, entry) in zip(ids, entries) where entry.purchase == nil {
            unreadable.append(transactionID: id, productID: nil)
        }
        return policy.verdict(on: entries.compactMap(\.purchase), beside: unreadable, by: .serverAPI)
    }
}
