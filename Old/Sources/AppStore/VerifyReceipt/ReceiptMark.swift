public import Purchases

/// What an answer of verifyReceipt is known by to be about the receipt that was sent.
///
/// A receipt comes back with all purchases that are in it, so its first one is enough to be looked for; a later receipt of the same
/// player may hold it too, and is told from it by its moment.
public struct ReceiptMark: Hashable, Sendable {
    /// Attribute 12.
    let createdAt: Timestamp?
    /// That of the first purchase; nil for a receipt without purchases, or with one that cannot be read.
    let transactionID: TransactionID?
    /// Whether it says of itself that it is the sandbox's. Nobody has proved it, but who has paid in production says nothing of
    /// the kind.
    let saysSandbox: Bool

    /// The mark of a receipt.
    public init(of receipt: AppReceipt) {
        self.init(
            createdAt: receipt.createdAt, transactionID: receipt.firstTransactionID,
            saysSandbox: receipt.origin == .sandbox)
    }

    /// The mark of a receipt that holds these.
    public init(createdAt: Timestamp? = nil, transactionID: TransactionID? = nil, saysSandbox: Bool = false) {
        self.createdAt = createdAt
        self.transactionID = transactionID
        self.saysSandbox = saysSandbox
    }

    /// Whether an answer names the purchase or, for want of one, the moment.
    func isNamed(by response: VerifyReceiptResponse) -> Bool {
        guard let transactionID else { return isOfMoment(response) }
        return response.records.contains { $0.isOrGoesBack(to: transactionID) }
    }

    /// Whether both were made in the same second; where one of them does not say, nothing speaks against it.
    func isOfMoment(_ response: VerifyReceiptResponse) -> Bool {
        guard let createdAt, let attested = response.receiptCreatedAt else { return true }
        return createdAt.milliseconds / 1000 == attested.milliseconds / 1000
    }
}
