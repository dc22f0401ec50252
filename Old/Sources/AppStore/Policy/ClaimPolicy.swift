public import Purchases

/// Decides which of the purchases that Apple attests a submission claims, and whether they may be granted.
///
/// Knows nothing of how they were attested, so every kind of evidence is judged by the same rules.
public struct ClaimPolicy: Sendable {
    private let submission: Submission
    private let check: PurchaseCheck

    /// The rules of one submission.
    ///
    /// - Parameter receivedAt: when the submission reached the topic. Subscriptions are held against it, not against the
    ///   present, so that no delay of ours or Apple's costs a player a period.
    public init(app: App, submission: Submission, receivedAt: Timestamp) {
        self.submission = submission
        check = PurchaseCheck(app: app, submission: submission, receivedAt: receivedAt)
    }

    /// The verdict on all purchases that the evidence attests.
    ///
    /// One that waits for our catalogue holds the submission: an answer that left it out would be the last one, and a
    /// paid purchase never granted. Else those that pass are verified, oldest first. If none passes, the newest one's
    /// rejection stands. A claimed purchase that is not there may not have reached Apple's records yet: that is a doubt with
    /// a bounded window.
    public func verdict(on purchases: [Purchase], by verifiedBy: VerifiedBy) -> Verdict {
        let claimed = claimed(of: purchases).sorted(by: Self.isOlder)
        var grantable: [GrantablePurchase] = []
        var hold: Verdict?
        var rejection: Rejection?
        for purchase in claimed {
            switch check.finding(on: purchase) {
            case .passes(let passed): grantable.append(passed)
            case .waits(let cause, let detail): hold = .hold(cause, detail: detail)
            case .fails(let reason): rejection = reason
            }
        }
        if let hold { return hold }
        if !grantable.isEmpty { return .verified(grantable, by: verifiedBy) }
        if let rejection { return .rejected(rejection) }
        return .retry(.notFoundYet, notBefore: nil, patience: .window(then: notFound))
    }

    /// A transaction id means exactly that one; else a product id means every purchase of it; else everything is meant.
    private func claimed(of purchases: [Purchase]) -> [Purchase] {
        if let transactionID = submission.transactionID {
            return purchases.filter { $0.transactionID == transactionID }
        }
        if let productID = submission.productID {
            return purchases.filter { $0.productID == productID }
        }
        return purchases
    }

    private var notFound: Rejection {
        let detail =
            if submission.transactionID != nil {
                "Apple attests no such transaction."
            } else if submission.productID != nil {
                "Apple attests no purchase of this product."
            } else {
                "Apple attests no purchases."
            }
        return Rejection(
            .transactionNotFound, detail, transactionID: submission.transactionID, productID: submission.productID)
    }

    private static func isOlder(_ left: Purchase, than right: Purchase) -> Bool {
        (left.purchasedAt, left.transactionID.rawValue.utf8.count, left.transactionID)
            < (right.purchasedAt, right.transactionID.rawValue.utf8.count, right.transactionID)
    }
}
