import AppStoreSimulator
import Contract

/// A message to submit, with the answer that must come.
struct DemoSubmission {
    /// The answer that must come.
    enum Expectation: Hashable {
        /// One granted event for each of these transactions.
        case granted([TransactionID])
        /// The granted event of an earlier submission once more, marked as told again for this one.
        case repeated(TransactionID)
        case failed(FailureReason)
        case quarantined
    }

    /// Row of the table that it counts in.
    let kind: String
    /// Empty for a message that has none.
    let id: SubmissionID?
    let key: [UInt8]
    let value: [UInt8]?
    let expectation: Expectation
    /// Faults that Apple shows before it answers, and the transaction that they are about.
    var faults: (transaction: TransactionID, list: [Fault])?
}

/// The message as a game's backend writes it.
struct SubmissionMessage {
    var submissionID: String
    var userID: String
    var bundleID: BundleID
    var receipt: String?
    var signedTransaction: String?
    var transactionID: TransactionID?
    var productID: ProductID?
    var orderID: String?
    var submittedAt: Timestamp

    var bytes: [UInt8] {
        var writer = JSONObjectWriter(expecting: 1024 + (receipt?.utf8.count ?? 0))
        writer.member("bundleId", bundleID.rawValue)
        writer.member("orderId", orderID)
        writer.member("productId", productID?.rawValue)
        writer.member("receipt", receipt)
        writer.member("signedTransaction", signedTransaction)
        writer.member("submissionId", submissionID)
        writer.member("submittedAt", submittedAt)
        writer.member("transactionId", transactionID?.rawValue)
        writer.member("userId", userID)
        return writer.finished()
    }
}
