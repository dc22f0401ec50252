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

    /// The verdict on all purchases that the evidence attests, or the missing input for it.
    ///
    /// A purchase that cannot be judged holds the submission, whatever else passes. An answer without it would be
    /// final, and a paid purchase would never be granted. Otherwise the purchases that pass are verified, oldest first.
    /// If none passes, the newest one's rejection stands. A claimed purchase that is absent may not have reached
    /// Apple's records yet, so that is a doubt.
    /// - Parameters:
    ///   - unreadable: Purchases that the evidence attests in a form that is not known.
    ///   - attestsTokens: Whether the evidence names a purchase's account token where there is one.
    func conclusion(
        on purchases: [Purchase], beside unreadable: UnreadablePurchases, by verifiedBy: VerifiedBy, attestsTokens: Bool
    ) -> Conclusion {
        let check = PurchaseCheck(app: app, submission: submission, attestsTokens: attestsTokens)
        var grantable: [GrantablePurchase] = []
        var hold: Verdict?
        var rejection: Rejection?
        var isTokenUnknown = false
        let claimed = claimed(of: purchases)
        for purchase in claimed.count > 1 ? claimed.sorted(by: Self.isOlder) : claimed {
            switch check.finding(on: purchase) {
            case .passes(let passed): grantable.append(passed)
            case .waits(let cause, let detail): hold = .hold(cause, detail: detail)
            case .fails(let reason): rejection = reason
            case .tokenUnknown(let reason):
                rejection = reason
                isTokenUnknown = true
            }
        }
        if hold == nil, let reason = unreadable.claimed(by: submission, beside: purchases),
            grantable.isEmpty || !reason.isUnderstood
        {
            hold = .hold(reason.cause, detail: reason.detail)
        }
        if let hold { return .verdict(hold) }
        let verdict: Verdict =
            if !grantable.isEmpty {
                .verified(grantable, by: verifiedBy)
            } else if let rejection {
                .rejected(rejection)
            } else {
                .doubt(.notFoundYet, becomes: .rejected(notFound))
            }
        return isTokenUnknown ? .tokensUnknown(otherwise: verdict) : .verdict(verdict)
    }

    /// The verdict on a transaction whose signature held.
    ///
    /// A part that it lacks holds the submission, because Apple signed it and a person must look. Unlike a receipt it
    /// is about one purchase: if that is not the claimed one, no waiting makes it so.
    func verdict(on transaction: SignedTransaction, by verifiedBy: VerifiedBy) -> Verdict {
        // Apple answers an app's own key for that app alone.
        guard let bundleID = transaction.bundleID ?? (verifiedBy == .serverAPI ? app.bundleID : nil) else {
            return .hold(.incompleteAnswer, detail: "Apple signed the transaction without a bundle id.")
        }
        guard bundleID == app.bundleID else {
            return .rejected(
                Rejection(
                    .bundleMismatch, "Apple attests the transaction to another app.",
                    transactionID: transaction.transactionID))
        }
        let claim = submission.claim
        if let claimed = claim.transactionID, let signed = transaction.transactionID, claimed != signed {
            return .rejected(
                Rejection(
                    .transactionNotFound, "The signed transaction is another one than the one claimed.",
                    transactionID: claimed, productID: claim.productID))
        }
        switch transaction.purchase {
        case .failure(let unreadable):
            // Never granted, in whatever form.
            if transaction.environment.flatMap({ AppleCodes.environments[$0] }) == .sandbox,
                !app.sandbox.allows(submission.userID)
            {
                return .rejected(
                    Rejection(
                        .environmentNotAllowed, PurchaseCheck.sandboxNotAllowed,
                        transactionID: transaction.transactionID, productID: transaction.productID))
            }
            return .hold(unreadable.cause, detail: unreadable.detail)
        case .success(let purchase):
            if let claimed = claim.productID, claimed != purchase.productID {
                return .rejected(
                    Rejection(
                        .productMismatch, "Apple attests another product than the one claimed.",
                        transactionID: purchase.transactionID, productID: purchase.productID))
            }
            return verdict(on: [purchase], by: verifiedBy)
        }
    }

    /// A transaction id means exactly that one; else a product id means every purchase of it; else everything is meant.
    private func claimed(of purchases: [Purchase]) -> [Purchase] {
        if let transactionID = submission.claim.transactionID {
            return purchases.filter { $0.transactionID == transactionID }
        }
        if let productID = submission.claim.productID { return purchases.filter { $0.productID == productID } }
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
/// The claimed purchase may be one of them. That is never the player's fault, so a person must decide. Unclaimed ones
/// are ignored.
struct UnreadablePurchases: Sendable {
    private var names: [(transactionID: TransactionID?, productID: ProductID?, reason: UnreadablePurchase)] = []

    /// Adds one, with what can be read of its names.
    mutating func append(
        transactionID: TransactionID?, productID: ProductID?, as reason: UnreadablePurchase = .incomplete
    ) {
        names.append((transactionID, productID, reason))
    }

    /// Why one of them may be what a submission claims, and is not judged, beside the purchases that could be read. Nil
    /// if none may. A name that could not be read may be any. The least understood one counts.
    func claimed(by submission: Submission, beside purchases: [Purchase]) -> UnreadablePurchase? {
        guard !names.isEmpty else { return nil }
        let claim = submission.claim
        let isRead = claim.transactionID.map { id in purchases.contains { $0.transactionID == id } } ?? false
        let reasons = names.filter { name in
            // Of one that stands there twice, once readable and once not, the unreadable one may be its refund.
            if let claimed = claim.transactionID { return name.transactionID.map { $0 == claimed } ?? !isRead }
            return claim.productID == nil || name.productID == nil || name.productID == claim.productID
        }.map(\.reason)
        return reasons.first { !$0.isUnderstood } ?? reasons.first
    }
}

/// Holds one attested purchase against the app's rules and the submission's claims.
struct PurchaseCheck: Sendable {
    enum Finding: Hashable, Sendable {
        case passes(GrantablePurchase)
        case fails(Rejection)
        /// The rules need the purchase's account token, and this kind of evidence cannot say it.
        case tokenUnknown(Rejection)
        /// Our catalogue and Apple's word do not go together; a person must decide.
        case waits(HoldCause, detail: String)
    }

    /// Units of one purchase that StoreKit sells of consumables and non-renewing subscriptions
    /// ([quantity](https://developer.apple.com/documentation/storekit/skmutablepayment/quantity)).
    static let quantities = 1...10

    static let sandboxNotAllowed = "This app does not grant this user's sandbox purchases."

    let app: App
    let submission: Submission
    /// Whether the evidence names a purchase's account token where there is one, so that none means none.
    let attestsTokens: Bool

    /// Checks in a fixed order: environment, product, type, owner, account token, quantity, revocation, end of period.
    /// Revocation comes before the end, because a refund is the better answer if both apply.
    func finding(on purchase: Purchase) -> Finding {
        guard purchase.environment == .production || app.sandbox.allows(submission.userID) else {
            return fails(.environmentNotAllowed, Self.sandboxNotAllowed, purchase)
        }
        if let claimed = submission.claim.productID, claimed != purchase.productID {
            return fails(.productMismatch, "Apple attests another product than the one claimed.", purchase)
        }
        guard let product = product(of: purchase) else {
            return fails(.unknownProduct, "The product is not in the app's catalogue.", purchase)
        }
        if let contradiction = contradiction(between: product.type, and: purchase) { return contradiction }
        // Apple never shares consumables, so one that says it is shared is refused whatever the app allows.
        if purchase.ownership == .familyShared, product.type == .consumable || !app.acceptsFamilySharing {
            return fails(.familySharedNotAllowed, "The purchase is shared within a family.", purchase)
        }
        if let finding = tokenFinding(on: purchase) { return finding }
        if product.type == .autoRenewable, purchase.quantity > 1 {
            // Apple sells several seats of a subscription to organisations and groups.
            return .waits(.unknownAnswer, detail: "Apple attests \(purchase.quantity) seats of a subscription.")
        }
        let allowed = product.type.isSoldInUnits ? Self.quantities : 1...1
        guard allowed.contains(purchase.quantity) else {
            return fails(.quantityOutOfRange, "The attested quantity is none that Apple sells.", purchase)
        }
        if let rejection = standingRejection(of: purchase, type: product.type) { return .fails(rejection) }
        guard let granted = GrantablePurchase(purchase, of: product) else {
            return .waits(
                .unknownAnswer, detail: "The catalogue's items times the quantity is more than can be counted.")
        }
        return .passes(granted)
    }

    /// Compares account tokens; nil if the claim passes.
    ///
    /// | Apple attests | claimed | `match` | `required` |
    /// |---|---|---|---|
    /// | a token | the same | passes | passes |
    /// | a token | another | mismatch | mismatch |
    /// | a token | none | missing | missing |
    /// | none | any or none | passes | missing |
    /// | cannot say | any or none | passes | looked up, or missing |
    ///
    /// `ignore` passes everything. An attested token also binds a claim without one, because a thief would omit it.
    private func tokenFinding(on purchase: Purchase) -> Finding? {
        guard app.accountToken != .ignore else { return nil }
        let claimed = submission.claim.appAccountToken
        if let attested = purchase.appAccountToken {
            guard let claimed else {
                return fails(
                    .accountTokenMissing, "The purchase was made for an account, and the submission names none.",
                    purchase)
            }
            guard claimed.lowercased() != attested.lowercased() else { return nil }
            return fails(.accountTokenMismatch, "The purchase was made for another account.", purchase)
        }
        guard app.accountToken == .required else { return nil }
        let rejection = rejection(
            .accountTokenMissing, "This app grants purchases with an account token only, and Apple attests none.",
            purchase)
        return attestsTokens ? .fails(rejection) : .tokenUnknown(rejection)
    }

    private func standingRejection(of purchase: Purchase, type: ProductType) -> Rejection? {
        if purchase.revokedAt != nil {
            return rejection(.transactionRevoked, "Apple refunded or revoked the purchase.", purchase)
        }
        if purchase.isUpgraded {
            return rejection(.transactionRevoked, "The subscription was upgraded to another one.", purchase)
        }
        // Held against the moment of submission, so that no delay of ours or Apple's costs a player a period.
        if type == .autoRenewable, let expiresAt = purchase.expiresAt, expiresAt <= submission.receivedAt {
            return rejection(.subscriptionExpired, "The paid period was over when it was claimed.", purchase)
        }
        return nil
    }

    /// The catalogue's row, of the type that Apple attests. Without a catalogue one unit of a product is one item of
    /// its own name.
    private func product(of purchase: Purchase) -> Product? {
        switch app.products {
        case .catalogue(let products): products[purchase.productID]
        case .any:
            Product(
                id: purchase.productID, type: purchase.type ?? presumedType(of: purchase),
                items: [Item(item: purchase.productID.rawValue, quantity: 1)])
        }
    }

    /// The type of a purchase whose type nobody names. Only subscriptions have an end. Of the others, only consumables
    /// have a quantity above one. The rest counts as non-consumable and has the grant key of its original transaction.
    /// A restore then cannot grant it again. A consumable is its own original, so it is still granted once per
    /// purchase.
    private func presumedType(of purchase: Purchase) -> ProductType {
        if purchase.expiresAt != nil { return .autoRenewable }
        return purchase.quantity > 1 ? .consumable : .nonConsumable
    }

    /// The type decides the grant key, so a wrong one could grant twice or not at all. Where Apple attests no type, an
    /// end tells: Apple gives one to every auto-renewable period and to nothing else.
    private func contradiction(between type: ProductType, and purchase: Purchase) -> Finding? {
        if let attested = purchase.type, attested != type {
            return .waits(
                .unknownAnswer,
                detail:
                    "The catalogue has \(purchase.productID) as \(type.rawValue); Apple attests \(attested.rawValue).")
        }
        return switch (type == .autoRenewable, purchase.expiresAt != nil) {
        case (true, true), (false, false): nil
        case (true, false):
            .waits(
                .incompleteAnswer,
                detail: "\(purchase.productID) is auto-renewable; Apple attests no end of its period.")
        // Apple lets developers set an end for non-renewing subscriptions; one that is attested as such stays what it
        // is.
        case (false, true) where purchase.type != nil: nil
        case (false, true):
            .waits(
                .unknownAnswer,
                detail: "The catalogue has \(purchase.productID) as \(type.rawValue); Apple attests a subscription.")
        }
    }

    private func fails(_ reason: FailureReason, _ detail: String, _ purchase: Purchase) -> Finding {
        .fails(rejection(reason, detail, purchase))
    }

    private func rejection(_ reason: FailureReason, _ detail: String, _ purchase: Purchase) -> Rejection {
        Rejection(reason, detail, transactionID: purchase.transactionID, productID: purchase.productID)
    }
}

extension ProductType {
    /// Whether one purchase may be of several units.
    fileprivate var isSoldInUnits: Bool { self == .consumable || self == .nonRenewing }
}
