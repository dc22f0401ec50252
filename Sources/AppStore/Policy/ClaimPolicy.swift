import Contract

/// Decides which of the purchases that Apple attests a submission claims, and whether they may be granted.
///
/// Knows nothing of how they were attested, so every kind of evidence is judged by the same rules.
struct ClaimPolicy: Sendable {
    let app: App
    let submission: Submission

    /// The result of holding attested purchases against a claim.
    enum Conclusion: Hashable, Sendable {
        case verdict(Verdict)
        /// The rules need account tokens, which this kind of evidence cannot say. The App Store Server API can; the
        /// verdict is for apps that have no key for it.
        case tokensUnknown(otherwise: Verdict)
    }

    /// The verdict on all purchases that the evidence attests, where it says all that the rules need.
    func verdict(
        on purchases: [Purchase], beside unreadable: UnreadablePurchases = UnreadablePurchases(),
        by verifiedBy: VerifiedBy
    ) -> Verdict {
        switch conclusion(on: purchases, beside: unreadable, by: verifiedBy, attestsTokens: true) {
        case .verdict(let verdict), .tokensUnknown(let verdict): verdict
        }
    }

    /// The verdict on all purchases that the evidence attests, or what is missing for it.
    ///
    /// A purchase that cannot be judged holds the submission, whatever else passes: an answer that left it out would be
    /// the last one, and a paid purchase never granted. Else those that pass are verified, oldest first. If none
    /// passes, the newest one's rejection stands. A claimed purchase that is not there may not have reached Apple's
    /// records yet: that is a doubt.
    ///
    /// - Parameters:
    ///   - unreadable: Purchases that the evidence attests in a form that is not known.
    ///   - attestsTokens: Whether the evidence names a purchase's account token where there is one.
    func conclusion(
        on purchases: [Purchase], beside unreadable: UnreadablePurchases, by verifiedBy: VerifiedBy,
        attestsTokens: Bool
    ) -> Conclusion {
        let check = PurchaseCheck(app: app, submission: submission, attestsTokens: attestsTokens)
        var grantable: [GrantablePurchase] = []
        var hold: Verdict?
        var rejection: Rejection?
        var isTokenUnknown = false
        for purchase in claimed(of: purchases).sorted(by: Self.isOlder) {
            switch check.finding(on: purchase) {
            case .passes(let passed): grantable.append(passed)
            case .waits(let cause, let detail): hold = .hold(cause, detail: detail)
            case .fails(let reason): rejection = reason
            case .tokenUnknown(let reason):
                rejection = reason
                isTokenUnknown = true
            }
        }
        if unreadable.mayBeClaimed(by: submission, beside: purchases) {
            hold = hold ?? .hold(.incompleteAnswer, detail: "A purchase that Apple attests lacks what a grant needs.")
        }
        if let hold { return .verdict(hold) }
        let verdict: Verdict =
            if !grantable.isEmpty {
                .verified(grantable, by: verifiedBy)
            } else if let rejection {
                .rejected(rejection)
            } else {
                .doubt(.notFoundYet, becomes: notFound)
            }
        return isTokenUnknown ? .tokensUnknown(otherwise: verdict) : .verdict(verdict)
    }

    /// A transaction id means exactly that one; else a product id means every purchase of it; else everything is meant.
    private func claimed(of purchases: [Purchase]) -> [Purchase] {
        if let transactionID = submission.claim.transactionID {
            return purchases.filter { $0.transactionID == transactionID }
        }
        if let productID = submission.claim.productID {
            return purchases.filter { $0.productID == productID }
        }
        return purchases
    }

    private var notFound: Rejection {
        let claim = submission.claim
        let detail =
            if claim.transactionID != nil {
                "Apple attests no such transaction."
            } else if claim.productID != nil {
                "Apple attests no purchase of this product."
            } else {
                "Apple attests no purchases."
            }
        return Rejection(
            .transactionNotFound, detail, transactionID: claim.transactionID, productID: claim.productID)
    }

    private static func isOlder(_ left: Purchase, than right: Purchase) -> Bool {
        (left.purchasedAt, left.transactionID.rawValue.utf8.count, left.transactionID)
            < (right.purchasedAt, right.transactionID.rawValue.utf8.count, right.transactionID)
    }
}

/// Purchases that Apple attests without all that a grant needs, in a form that is known: only names are left of them.
///
/// The claimed purchase may be one of them, and that is never the player's fault, so a person must look. Others
/// that nobody claims stand in nobody's way.
struct UnreadablePurchases: Sendable {
    private var names: [(transactionID: TransactionID?, productID: ProductID?)] = []

    /// Adds one, with what can be read of its names.
    mutating func append(transactionID: TransactionID?, productID: ProductID?) {
        names.append((transactionID, productID))
    }

    /// Whether one of them may be what a submission claims, beside the purchases that could be read. A name that could
    /// not be read may be any.
    func mayBeClaimed(by submission: Submission, beside purchases: [Purchase]) -> Bool {
        if let claimed = submission.claim.transactionID {
            return !purchases.contains { $0.transactionID == claimed }
                && names.contains { $0.transactionID == nil || $0.transactionID == claimed }
        }
        if let claimed = submission.claim.productID {
            return names.contains { $0.productID == nil || $0.productID == claimed }
        }
        return !names.isEmpty
    }
}
