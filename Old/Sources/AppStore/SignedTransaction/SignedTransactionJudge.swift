public import Purchases

/// Judges a transaction that Apple signed: whose it is, whether it is the one that was claimed, and whether it may be
/// granted.
public struct SignedTransactionJudge: Sendable {
    private let app: App
    private let submission: Submission
    private let receivedAt: Timestamp

    /// A judge of one submission.
    ///
    /// - Parameter receivedAt: when the submission reached the topic; subscriptions are held against it.
    public init(app: App, submission: Submission, receivedAt: Timestamp) {
        self.app = app
        self.submission = submission
        self.receivedAt = receivedAt
    }

    /// The verdict on a transaction.
    ///
    /// What it lacks holds the submission, because Apple signed it and a person must look. Unlike a receipt it is about one
    /// purchase: if that is not the claimed one, no waiting makes it so.
    public func verdict(on transaction: SignedTransaction, by verifiedBy: VerifiedBy) -> Verdict {
        guard let bundleID = transaction.bundleID else {
            return .hold(.incompleteAnswer, detail: "Apple signed the transaction without a bundle id.")
        }
        guard bundleID == app.bundleID else {
            return .rejected(
                Rejection(
                    .bundleMismatch, "Apple attests the transaction to another app.",
                    transactionID: transaction.transactionID))
        }
        if let claimed = submission.transactionID, let signed = transaction.transactionID, claimed != signed {
            return .rejected(
                Rejection(
                    .transactionNotFound, "The signed transaction is another one than the one claimed.",
                    transactionID: claimed, productID: submission.productID))
        }
        switch transaction.purchase {
        case .failure(let unreadable): return .hold(.incompleteAnswer, detail: unreadable.detail)
        case .success(let purchase):
            if let claimed = submission.productID, claimed != purchase.productID {
                return .rejected(
                    Rejection(
                        .productMismatch, "Apple attests another product than the one claimed.",
                        transactionID: purchase.transactionID, productID: purchase.productID))
            }
            return ClaimPolicy(app: app, submission: submission, receivedAt: receivedAt)
                .verdict(on: [purchase], by: verifiedBy)
        }
    }
}
