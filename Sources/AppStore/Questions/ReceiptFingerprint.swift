import Contract

/// The values by which a reply of verifyReceipt is matched with the receipt that was sent.
///
/// If a server or intermediary once replies twice, every later request on that connection gets the previous reply. A
/// reply repeats all purchases of the receipt. A reply that lacks some of the first purchases is asked for again over a
/// fresh connection. A later receipt of the same player may hold the same ids, but its creation time differs.
struct ReceiptFingerprint: Hashable, Sendable {
    /// Most purchases whose ids are kept. Thousands of receipts wait at a time.
    static let maxTransactions = 8

    /// Attribute 12.
    let createdAt: Timestamp?
    /// Of the receipt's first purchases; empty for a receipt without purchases, or without any that can be read.
    let transactions: [TransactionID]
    /// Whether the receipt says of itself that it is the sandbox's. It is not proven, but a player who has paid in
    /// production gains nothing by saying so.
    let saysSandbox: Bool

    init(createdAt: Timestamp? = nil, transactions: [TransactionID] = [], saysSandbox: Bool = false) {
        self.createdAt = createdAt
        self.transactions = Array(transactions.prefix(Self.maxTransactions))
        self.saysSandbox = saysSandbox
    }

    /// Whether any reply would match.
    var namesNothing: Bool { transactions.isEmpty && createdAt == nil }

    /// Whether a reply is about the receipt. It must name the receipt's purchases and its creation second, if both
    /// have them.
    /// - Parameter isFresh: Whether the reply came over a connection without other requests. It then cannot belong to
    ///   another request, even if Apple formats the creation time differently or leaves purchases out.
    func matches(_ response: VerifyReceiptResponse, isFresh: Bool) -> Bool {
        if isFresh { return transactions.isEmpty || transactions.contains { response.names($0) } }
        // Nothing would tie the reply to the receipt.
        guard !transactions.isEmpty || createdAt == nil || response.receiptCreatedAt != nil else { return false }
        return isOfMoment(response) && isWhole(in: response)
    }

    /// Whether a reply names all purchases of the receipt whose ids are kept.
    func isWhole(in response: VerifyReceiptResponse) -> Bool { transactions.allSatisfy { response.names($0) } }

    private func isOfMoment(_ response: VerifyReceiptResponse) -> Bool {
        guard let createdAt, let attested = response.receiptCreatedAt else { return true }
        return createdAt.milliseconds / 1000 == attested.milliseconds / 1000
    }
}

extension VerifyReceiptResponse {
    fileprivate func names(_ transaction: TransactionID) -> Bool { records.contains { $0.names(transaction) } }
}
