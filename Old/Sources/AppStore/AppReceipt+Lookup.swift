public import Purchases

extension AppReceipt {
    /// How the claim of a submission is looked up by this receipt, whose signature must have been verified: otherwise
    /// anybody could have other people's transactions looked up. Nil if it holds no id to begin with.
    ///
    /// The claimed transaction, if the receipt holds it; else the history of the customer whom the receipt proves, which
    /// also has what was bought since. Any of the customer's ids leads there; one of the claimed product is taken first.
    public func lookup(for submission: Submission) -> TransactionLookup.Question? {
        let entries = purchases.filter { entry in
            entry.transactionID.map { ServerAPIRequest.isTransactionID($0.rawValue) } ?? false
        }
        if let claimed = submission.transactionID, entries.contains(where: { $0.transactionID == claimed }) {
            return .transaction(claimed)
        }
        let entry = entries.first { $0.productID == submission.productID } ?? entries.first
        return entry.flatMap { ProvenCustomer($0, among: entries) }.map { .history(of: $0) }
    }
}
