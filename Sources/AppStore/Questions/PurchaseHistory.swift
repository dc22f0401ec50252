import Contract

/// The customer whom a receipt proves: where their history is found, and by which purchases it is known.
///
/// Apple signs each transaction of a history, but not the customer. A history that shares nothing with the receipt is
/// another customer's.
struct ProvenCustomer: Hashable, Sendable {
    /// A transaction of theirs: any leads to the history.
    let transactionID: TransactionID
    /// Its product, if the receipt says it.
    let productID: ProductID?
    let purchases: [ProvenPurchase]
    /// The transactions and original transactions that the receipt names.
    private let bought: Set<TransactionID>

    /// A customer of whom a transaction is known, and perhaps others.
    init(_ transactionID: TransactionID, of productID: ProductID? = nil, purchases: [ProvenPurchase] = []) {
        self.transactionID = transactionID
        self.productID = productID
        self.purchases = purchases
        bought = Set(purchases.flatMap { [$0.transactionID, $0.originalTransactionID] } + [transactionID])
    }

    /// Whether the receipt names a transaction, as a purchase of its own or as a purchase's original.
    func knows(_ transactionID: TransactionID) -> Bool { bought.contains(transactionID) }

    /// Whether a transaction that the receipt does not name is a proven purchase under another id. It then goes back to
    /// one, or is of the same period. A consumable has no other id.
    func owns(_ transaction: SignedTransaction) -> Bool {
        let purchase = transaction.bought
        guard purchase?.type != .consumable else { return false }
        if let original = purchase?.originalTransactionID ?? transaction.originalIDOfUnreadable, knows(original) {
            return true
        }
        return purchase?.webOrderLineItemID.map { item in purchases.contains { $0.webOrderLineItemID == item } }
            ?? false
    }
}

/// A purchase that a receipt names, with the members that it has.
struct ProvenPurchase: Hashable, Sendable {
    let transactionID: TransactionID
    let originalTransactionID: TransactionID
    let webOrderLineItemID: String?
    let productID: ProductID?

    /// - Parameter originalTransactionID: Nil for the same as the transaction.
    init(
        _ transactionID: TransactionID, original originalTransactionID: TransactionID? = nil,
        webOrderLineItemID: String? = nil, of productID: ProductID?
    ) {
        self.transactionID = transactionID
        self.originalTransactionID = originalTransactionID ?? transactionID
        self.webOrderLineItemID = webOrderLineItemID
        self.productID = productID
    }

    /// The names that its grant would have. Its kind is not known, so a period without a line item is found by its
    /// transaction.
    func names(in environment: Environment) -> NamedPurchase {
        NamedPurchase(
            transactionID, of: productID ?? "-",
            GrantKey(in: environment, lineItem: webOrderLineItemID, original: originalTransactionID))
    }
}

/// The pages of a history, put together.
///
/// Where a transaction is sent twice, its latest record counts: else the older one would be granted. Of two records of
/// one moment the cancelled one counts. The latest changes come first, so a change while later pages are read is
/// missed, as if the history had been read before it.
struct PurchaseHistory: Sendable {
    /// Most transactions that are kept: one customer's latest, in one app.
    static let maxTransactions = 10_000

    private struct Entry {
        let signedAt: Timestamp
        let purchase: Result<Purchase, UnreadablePurchase>
        let productID: ProductID?
        let originalIDOfUnreadable: TransactionID?
        let sold: Purchase?

        init(_ transaction: SignedTransaction) {
            signedAt = transaction.signedAt
            purchase = transaction.purchase
            productID = transaction.productID
            originalIDOfUnreadable = transaction.originalIDOfUnreadable
            sold = transaction.sold
        }

        var readable: Purchase? { try? purchase.get() }

        /// Of two words of one moment the one that grants less counts.
        private var caution: Int {
            switch purchase {
            case .success(let purchase): purchase.revokedAt == nil ? 0 : 2
            case .failure: 1
            }
        }

        func isOutdone(by other: Entry) -> Bool {
            (signedAt, caution) <= (other.signedAt, other.caution)
        }
    }

    private var entries: [Entry] = []
    private var places: [TransactionID: Int] = [:]
    private var ids: [TransactionID] = []
    private var hasNameless = false

    var isEmpty: Bool { entries.isEmpty }
    /// The purchases that can be read, the latest change last.
    var purchases: [Purchase] { entries.reversed().compactMap(\.readable) }
    var isTooLong: Bool { entries.count > Self.maxTransactions }

    /// Whether it holds one of the purchases that a customer is known by, or a purchase that goes back to one.
    func holdsAny(of customer: ProvenCustomer) -> Bool {
        ids.contains(where: customer.knows)
            || entries.contains { ($0.readable?.originalTransactionID).map(customer.knows) ?? false }
    }

    /// Whether one of these is in none of the pages. Receipts name a restored purchase by an id that histories do not
    /// have. So the original of a non-consumable counts as well, and the line item of a subscription's period.
    func lacksAny(of purchases: [ProvenPurchase]) -> Bool {
        let missing = purchases.filter { places[$0.transactionID] == nil }
        guard !missing.isEmpty else { return false }
        let restorable = Set(
            entries.compactMap(\.readable).filter { $0.type == .nonConsumable }.map(\.originalTransactionID))
        let lineItems = Set(entries.compactMap { $0.readable?.webOrderLineItemID })
        return missing.contains { purchase in
            !restorable.contains(purchase.originalTransactionID)
                && !(purchase.webOrderLineItemID.map(lineItems.contains) ?? false)
        }
    }

    /// The purchase that was restored under an id that the history does not have.
    func original(of restored: ProvenPurchase) -> Purchase? {
        guard places[restored.transactionID] == nil, let place = places[restored.originalTransactionID],
            let original = entries[place].readable, original.type == .nonConsumable || original.type == .nonRenewing
        else { return nil }
        return original
    }

    /// Takes a transaction whose signature held. One without a bundle id is the asked app's: Apple replies to a key for
    /// its app alone.
    mutating func add(_ transaction: SignedTransaction) {
        let entry = Entry(transaction)
        guard let id = transaction.transactionID else {
            hasNameless = true
            return
        }
        if let place = places[id] {
            if entries[place].isOutdone(by: entry) { entries[place] = entry }
        } else {
            places[id] = entries.count
            entries.append(entry)
            ids.append(id)
        }
    }

    /// The verdict on all of it. Apple signs its replies. So if the claimed purchase may be one that cannot be read,
    /// that is never the player's fault.
    func verdict(_ policy: ClaimPolicy) -> Verdict {
        var unreadable = UnreadablePurchases()
        var refused: [Purchase] = []
        if hasNameless { unreadable.append(transactionID: nil, productID: nil) }
        for (id, entry) in zip(ids, entries) {
            guard case .failure(let reason) = entry.purchase else { continue }
            if let sold = entry.sold, case .fails = policy.finding(on: sold, that: reason) {
                refused.append(sold)
                continue
            }
            unreadable.append(
                transactionID: id, original: entry.originalIDOfUnreadable, productID: entry.productID, as: reason,
                granted: entry.sold?.names)
        }
        return policy.verdict(on: purchases + refused, beside: unreadable, by: .serverAPI)
    }
}

extension Verdict {
    /// The same, once it is no longer to be expected that Apple knows of more.
    var unlessMoreComes: Verdict {
        switch self {
        case .verified(let purchases, let verifiedBy):
            .doubt(.notFoundYet, becomes: .verified(purchases, by: verifiedBy))
        case .rejected(let rejection): .doubt(.notFoundYet, becomes: .rejected(rejection))
        // No names: once these purchases were granted, the claim would end without those still to come.
        case .hold(let cause, let detail, _): .hold(cause, detail: detail)
        case .doubt, .retry: self
        }
    }
}

/// Checks replies of the App Store Server API by Apple's signature. A reply is believed because its signature holds,
/// not because of the connection it came over.
struct ReplyAttestation {
    /// Why a reply is not believed, or not yet.
    struct Distrust: Error {
        let verdict: Verdict
    }

    let verifier: SignedTransactionVerifier
    /// The environment that was asked.
    let environment: Environment
    let now: Timestamp

    /// The transaction that was asked for, of the app whose key asked, and no other.
    func transaction(
        _ text: EvidenceText, as asked: TransactionID, app: BundleID
    ) throws(Distrust) -> SignedTransaction {
        let transaction = try transaction(text)
        guard transaction.transactionID == asked else {
            throw Self.unknown("Apple answered with another transaction than the one asked for.")
        }
        guard transaction.bundleID ?? app == app else {
            throw Self.unknown("Apple answered an app's key with another app's transaction.")
        }
        return transaction
    }

    /// The transactions of a page, all of them one app's.
    func transactions(of page: HistoryReply, app: BundleID) throws(Distrust) -> [SignedTransaction] {
        guard page.bundleID ?? app == app, isName(page.environment) else {
            throw Self.unknown("Apple's history is of another app or environment.")
        }
        var transactions: [SignedTransaction] = []
        transactions.reserveCapacity(page.signedTransactions.count)
        for text in page.signedTransactions {
            let transaction = try transaction(text)
            guard transaction.bundleID ?? app == app else {
                throw Self.unknown("Apple's history holds a transaction of another app.")
            }
            transactions.append(transaction)
        }
        return transactions
    }

    /// The transaction in a reply, if Apple signed it, for the environment that was asked. If it did not, an
    /// intermediary interferes, or this version is too old: neither is the player's fault.
    private func transaction(_ text: EvidenceText) throws(Distrust) -> SignedTransaction {
        let transaction: SignedTransaction
        do throws(SignedTransactionError) {
            transaction = try verifier.verify(text, now: now)
        } catch {
            if case .signedAhead = error { throw Distrust(verdict: error.verdict) }
            throw Self.unknown("Apple's reply is not signed as it must be. \(error.detail)")
        }
        guard isName(transaction.environment) else {
            throw Self.unknown("The \(environment.rawValue) API answered for another environment.")
        }
        return transaction
    }

    /// Whether an environment's name in Apple's reply is absent, or that of the environment that was asked.
    private func isName(_ name: String?) -> Bool {
        name.map { AppleCodes.environments[$0] == environment } ?? true
    }

    private static func unknown(_ detail: String) -> Distrust {
        Distrust(verdict: .hold(.unknownAnswer, detail: detail))
    }
}
