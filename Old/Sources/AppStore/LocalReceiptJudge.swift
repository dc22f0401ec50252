public import Purchases

/// Judges a receipt whose signature held: whose it is, what in it was claimed, and whether that may be granted.
///
/// A receipt tells of the past until it was made. Refunds since are not in it, nor what was bought since, nor whether a
/// purchase is shared within a family; the App Store Server API tells.
public struct LocalReceiptJudge: Sendable {
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

    /// The verdict on a receipt, which must have been verified: every word of it is taken for Apple's.
    ///
    /// A claimed purchase that the receipt does not hold it will never hold, so that is no doubt with a window, but the end.
    /// What Apple says in a form that is not known holds the submission, because a person must look.
    public func verdict(on receipt: AppReceipt) -> Verdict {
        guard let bundleID = receipt.bundleID else {
            return .hold(.incompleteAnswer, detail: "The receipt names no bundle id.")
        }
        guard bundleID == app.bundleID else {
            return .rejected(Rejection(.bundleMismatch, "Apple attests the receipt to another app."))
        }
        switch receipt.origin {
        case .production: return verdict(on: receipt, of: .production)
        case .sandbox: return verdict(on: receipt, of: .sandbox)
        case .xcode: return .rejected(Rejection(.environmentNotAllowed, "The receipt was made by Xcode, not by Apple."))
        case .other, nil: return .hold(.unknownAnswer, detail: "The receipt is of an environment that is not known.")
        }
    }

    private func verdict(on receipt: AppReceipt, of environment: Environment) -> Verdict {
        let (purchases, unreadable) = receipt.purchases(in: environment)
        let verdict = ClaimPolicy(app: app, submission: submission, receivedAt: receivedAt)
            .verdict(on: purchases, by: .local)
        switch verdict {
        case .verified: return verdict
        case _ where unreadable.mayBeClaimed(by: submission, beside: purchases):
            return .hold(.incompleteAnswer, detail: "A purchase in the receipt lacks what a grant needs.")
        case .retry(.notFoundYet, _, .window(let rejection)): return .rejected(rejection)
        case .rejected, .retry, .hold: return verdict
        }
    }
}

extension AppReceipt {
    /// The purchases, one per transaction id, and what is left of those that could not be read.
    ///
    /// A receipt has each transaction once. If one stood there twice, the word that it was taken back would count.
    func purchases(in environment: Environment) -> (readable: [Purchase], unreadable: UnreadablePurchases) {
        var purchases: [Purchase] = []
        var places: [TransactionID: Int] = [:]
        var unreadable = UnreadablePurchases()
        for set in purchaseSets {
            let entry = ReceiptPurchase(set)
            guard let purchase = entry?.purchase(in: environment) else {
                unreadable.append(transactionID: entry?.transactionID, productID: entry?.productID)
                continue
            }
            if let place = places[purchase.transactionID] {
                if purchase.revokedAt != nil { purchases[place] = purchase }
            } else {
                places[purchase.transactionID] = purchases.count
                purchases.append(purchase)
            }
        }
        return (purchases, unreadable)
    }
}

extension ReceiptPurchase {
    /// The purchase, if the entry has everything that a grant needs in a form this version knows; nil otherwise.
    ///
    /// Its type is not in a receipt (attribute 1707 is not documented), nor is who it belongs to within a family.
    func purchase(in environment: Environment) -> Purchase? {
        guard let transactionID, ServerAPIRequest.isTransactionID(transactionID.rawValue),
            let originalTransactionID, ServerAPIRequest.isTransactionID(originalTransactionID.rawValue), let productID,
            let purchasedAt, !hasUnreadablePart
        else { return nil }
        return Purchase(
            transactionID: transactionID, originalTransactionID: originalTransactionID,
            webOrderLineItemID: webOrderLineItemID, productID: productID, quantity: quantity.map(Int.init) ?? 1,
            environment: environment, purchasedAt: purchasedAt, expiresAt: expiresAt, revokedAt: revokedAt)
    }
}
