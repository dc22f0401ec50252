import Contract

/// The marks by which an answer of verifyReceipt is known to be about the receipt that was sent.
///
/// A server, or something in between, that once answers twice gives every later request on that connection the answer
/// of the one before it. A receipt comes back with all purchases in it, so some of its ids are enough to look for; a
/// later receipt of the same player may hold them too, and differs in its moment.
struct ReceiptFingerprint: Hashable, Sendable {
    /// Most purchases whose ids are kept. Thousands of receipts wait at a time.
    static let maxTransactions = 8

    /// Attribute 12.
    let createdAt: Timestamp?
    /// Of the receipt's first purchases; empty for a receipt without purchases, or without any that can be read.
    let transactions: [TransactionID]
    /// Whether the receipt says of itself that it is the sandbox's. Nobody has proved it, but nobody who has paid in
    /// production gains by saying so.
    let saysSandbox: Bool

    /// The fingerprint of a receipt that holds these.
    init(createdAt: Timestamp? = nil, transactions: [TransactionID] = [], saysSandbox: Bool = false) {
        self.createdAt = createdAt
        self.transactions = Array(transactions.prefix(Self.maxTransactions))
        self.saysSandbox = saysSandbox
    }

    /// Whether an answer is about the receipt: it names one of its purchases, and the second at which it was made, as
    /// far as both say it.
    ///
    /// - Parameter isFresh: The answer came over a connection that nothing else was asked on, so it can be nobody
    ///   else's, even if Apple should word the moment in another way.
    func matches(_ response: VerifyReceiptResponse, isFresh: Bool) -> Bool {
        guard isFresh || isOfMoment(response) else { return false }
        return transactions.isEmpty || response.records.contains { $0.isAny(of: transactions) }
    }

    private func isOfMoment(_ response: VerifyReceiptResponse) -> Bool {
        guard let createdAt, let attested = response.receiptCreatedAt else { return true }
        return createdAt.milliseconds / 1000 == attested.milliseconds / 1000
    }
}
