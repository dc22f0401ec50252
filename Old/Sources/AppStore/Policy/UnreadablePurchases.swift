import Purchases

/// Purchases that Apple attests without all that a grant needs, in a form that is known: what is left of them are names.
///
/// The claimed purchase may be one of them, and that is never the player's fault, so a person must look. Those that nobody
/// claims stand in nobody's way.
struct UnreadablePurchases: Sendable {
    private var names: [(transactionID: TransactionID?, productID: ProductID?)] = []

    /// Adds one, with what can be read of its names.
    mutating func append(transactionID: TransactionID?, productID: ProductID?) {
        names.append((transactionID, productID))
    }

    /// Whether one of them may be what a submission claims, beside the purchases that could be read. A name that could not
    /// be read may be any.
    func mayBeClaimed(by submission: Submission, beside purchases: [Purchase]) -> Bool {
        if let claimed = submission.transactionID {
            return !purchases.contains { $0.transactionID == claimed }
                && names.contains { $0.transactionID == nil || $0.transactionID == claimed }
        }
        if let claimed = submission.productID {
            return names.contains { $0.productID == nil || $0.productID == claimed }
        }
        return !names.isEmpty
    }
}
