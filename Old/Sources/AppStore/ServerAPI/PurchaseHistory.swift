import Purchases

/// What the pages of a history amount to.
///
/// A transaction that changes while the pages are read is sent again, as one that was refunded in between. The latest
/// word on it counts: with both, the older one would be granted.
struct PurchaseHistory: Sendable {
    /// Most transactions that are kept: one customer's, in one app.
    static let maxTransactions = 10_000

    private struct Entry {
        var signedAt: Timestamp
        var purchase: Result<Purchase, UnreadablePurchase>
    }

    private var entries: [Entry] = []
    private var places: [TransactionID: Int] = [:]
    private var hasNameless = false

    /// Whether nothing was added that has an id.
    var isEmpty: Bool { entries.isEmpty }

    /// Whether it holds a purchase that a customer is known by, or one that goes back to such a purchase.
    func holdsAny(of customer: ProvenCustomer) -> Bool {
        places.keys.contains(where: customer.knows)
            || entries.contains { (try? $0.purchase.get().originalTransactionID).map(customer.knows) ?? false }
    }

    /// Whether it holds more than it may.
    var isTooLong: Bool { entries.count > Self.maxTransactions }

    /// Takes a transaction whose signature held. One without a bundle id may be anybody's, so it can be claimed and not
    /// granted.
    mutating func add(_ transaction: SignedTransaction) {
        let entry = Entry(
            signedAt: transaction.signedAt,
            purchase: transaction.bundleID == nil ? .failure(.missing("bundleId")) : transaction.purchase)
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
        }
    }

    /// The verdict on all of it.
    ///
    /// Apple signs what it sends, so a purchase that cannot be read and may be the claimed one is never the player's
    /// fault.
    func verdict(app: App, submission: Submission, receivedAt: Timestamp) -> Verdict {
        let purchases = entries.compactMap { try? $0.purchase.get() }
        let verdict = ClaimPolicy(app: app, submission: submission, receivedAt: receivedAt)
            .verdict(on: purchases, by: .serverAPI)
        if case .verified = verdict { return verdict }
        guard mayBeUnreadable(submission.transactionID, readable: purchases.count) else { return verdict }
        return .hold(.incompleteAnswer, detail: "A purchase in Apple's history lacks what a grant needs.")
    }

    private func mayBeUnreadable(_ claimed: TransactionID?, readable: Int) -> Bool {
        guard let claimed else { return hasNameless || readable < entries.count }
        guard let place = places[claimed] else { return hasNameless }
        guard case .failure = entries[place].purchase else { return false }
        return true
    }
}
