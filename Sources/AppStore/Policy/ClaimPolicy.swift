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

    /// The verdict on all purchases that the evidence attests, if it says everything that the rules need.
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
    /// final, and a paid purchase would never be granted. The hold has the names of all purchases that may still be
    /// granted. Once all of them were granted under other submissions, there is nothing to wait for.
    ///
    /// Otherwise the purchases that pass are verified, oldest first, and the others are passed over. If none passes, a
    /// purchase of a product that the apps file does not list holds the submission. Else the newest purchase's
    /// rejection stands. A claimed purchase that is absent may not have reached Apple's records yet, so that is a
    /// doubt.
    /// - Parameters:
    ///   - unreadable: Purchases that the evidence attests in a form that is not known.
    ///   - attestsTokens: Whether the evidence names a purchase's account token where there is one.
    func conclusion(
        on purchases: [Purchase], beside unreadable: UnreadablePurchases, by verifiedBy: VerifiedBy, attestsTokens: Bool
    ) -> Conclusion {
        let check = PurchaseCheck(app: app, submission: submission, attestsTokens: attestsTokens)
        let purchases = check.agreed(purchases)
        var grantable: [GrantablePurchase] = []
        var others: [PassedOver.Entry] = []
        var holding: [PassedOver.Holding] = []
        var hold: (cause: HoldCause, detail: String)?
        var held: [NamedPurchase] = []
        var rejection: Rejection?
        var lackingToken: [NamedPurchase] = []
        let claimed = claimed(of: purchases, check)
        for purchase in claimed.count > 1 ? claimed.sorted(by: Self.isOlder) : claimed {
            switch check.finding(on: purchase) {
            case .passes(let passed): grantable.append(passed)
            case .waits(let cause, let detail):
                hold = (cause, detail)
                held.append(check.names(of: purchase))
            case .unlisted:
                others.append(purchase, .productNotConfigured)
                holding.append(PassedOver.Holding(.productNotConfigured, check.names(of: purchase)))
            case .fails(let reason):
                rejection = reason
                others.append(purchase, reason.reason.ofOnePurchase)
            case .tokenUnknown(let reason):
                rejection = reason
                lackingToken.append(check.names(of: purchase))
                others.append(purchase, .accountTokenMissing)
            }
        }
        if hold == nil, let reason = unreadable.claimed(by: submission, beside: purchases),
            grantable.isEmpty || reason.passedOver == nil
        {
            hold = (reason.cause, reason.detail)
        }
        if let hold {
            held += holding.map(\.purchase) + lackingToken + grantable.map { NamedPurchase($0.purchase, as: $0.type) }
            let purchases = unreadable.names(of: submission, beside: purchases).map { held + $0 } ?? []
            return .verdict(.hold(hold.cause, detail: hold.detail, purchases: purchases))
        }
        if !grantable.isEmpty {
            let understood = unreadable.understood(by: submission, beside: purchases)
            others += understood.map(\.entry)
            holding += understood.compactMap { entry, names in names.map { PassedOver.Holding(entry.reason, $0) } }
        }
        let passedOver = PassedOver(others, holding: holding)
        if let newest = grantable.indices.last { grantable[newest].passedOver = passedOver }
        let verdict: Verdict =
            if !grantable.isEmpty {
                .verified(grantable, by: verifiedBy)
            } else if let unlisted = passedOver?.unlistedProducts {
                .hold(.productNotConfigured, detail: unlisted, purchases: holding.map(\.purchase) + lackingToken)
            } else if let rejection {
                .rejected(rejection)
            } else {
                .doubt(
                    .notFoundYet,
                    becomes: standing(among: purchases, check, verifiedBy).map { .verified([$0], by: verifiedBy) }
                        ?? .rejected(notFound(among: purchases)))
            }
        return lackingToken.isEmpty ? .verdict(verdict) : .tokensUnknown(otherwise: verdict)
    }

    /// The verdict on a transaction whose signature held.
    ///
    /// A transaction that lacks a part holds the submission, because Apple signed it and a person must look. Unlike a
    /// receipt it is about one purchase: if that is not the claimed one, waiting does not help.
    func verdict(on transaction: SignedTransaction, by verifiedBy: VerifiedBy) -> Verdict {
        // Apple replies to an app's own key for that app alone.
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
        if let claimed = claim.transactionID, let signed = transaction.transactionID, claimed != signed,
            // A purchase that cannot be read may go back to the claimed one.
            let purchase = transaction.bought,
            !PurchaseCheck(app: app, submission: submission, attestsTokens: true).goesBack(purchase, to: claimed)
        {
            return .rejected(
                Rejection(
                    .transactionNotFound,
                    "The signed transaction is another one than the one claimed."
                        + claim.hintOfRounding(among: [signed]),
                    transactionID: claimed, productID: claim.productID))
        }
        switch transaction.purchase {
        case .failure(let unreadable):
            // Never granted, in whatever form.
            if transaction.knownEnvironment == .sandbox, !app.sandbox.allows(submission.userID) {
                return .rejected(
                    PurchaseCheck.sandboxNotAllowed(transaction.transactionID, of: transaction.productID))
            }
            // Else a person would give by hand a purchase that nobody may have.
            switch transaction.sold.flatMap({ finding(on: $0, that: unreadable) }) {
            case .fails(let rejection): return .rejected(rejection)
            case .waits(let cause, let detail): return .hold(cause, detail: detail)
            default: break
            }
            let names = transaction.sold.flatMap { $0.names.isExactly(claim) ? [$0.names] : nil }
            return .hold(unreadable.cause, detail: unreadable.detail(of: transaction), purchases: names ?? [])
        case .success(let purchase):
            if let claimed = claim.productID, claimed != purchase.productID {
                return .rejected(
                    Rejection(
                        .productMismatch, "Apple attests another product than the one claimed.",
                        transactionID: purchase.transactionID, productID: purchase.productID))
            }
            guard let claimed = claim.transactionID, claimed != purchase.transactionID else {
                return verdict(on: [purchase], by: verifiedBy)
            }
            // It is claimed by its original's id.
            let known = submission.claiming(purchase.transactionID)
            return ClaimPolicy(app: app, submission: known).verdict(on: [purchase], by: verifiedBy)
        }
    }

    /// A further reason against a purchase that cannot be granted as it is; nil where there is none.
    func finding(on sold: Purchase, that cannotBeGranted: UnreadablePurchase) -> PurchaseCheck.Finding? {
        PurchaseCheck(app: app, submission: submission, attestsTokens: true).findingOnUngrantable(
            // A claim names a SKU, which is in no catalogue either.
            sold, isOfClaimedProduct: cannotBeGranted == .advancedCommerce)
    }

    /// A transaction id means exactly that purchase, or if it is not there, the purchases with its grant key. That of a
    /// subscription's first period means the period that runs, once the first one does not stand any more. Without an
    /// id, a product id means every purchase of the product. Without both, every purchase is meant.
    private func claimed(of purchases: [Purchase], _ check: PurchaseCheck) -> [Purchase] {
        if let transactionID = submission.claim.transactionID {
            if let period = runningPeriod(among: purchases) { return [period] }
            let exact = purchases.filter { $0.transactionID == transactionID }
            return exact.isEmpty ? purchases.filter { check.isKnown($0, by: transactionID) } : exact
        }
        if let productID = submission.claim.productID { return purchases.filter { $0.productID == productID } }
        return purchases
    }

    /// The period that ran at the moment of submission, where the claimed id is of a first period that does not stand any
    /// more. SDKs hand out the original's id for it. Of several that have not ended the first one counts: Apple may
    /// charge the next one before it begins. An order that names the first period is paid by that one.
    func runningPeriod(among purchases: [Purchase]) -> Purchase? {
        guard meansLaterPeriod(among: purchases) else { return nil }
        let claim = submission.claim
        return purchases.filter { purchase in
            beganWithClaimed(purchase) && purchase.transactionID != claim.transactionID
                && moment.stands(purchase) && purchase.purchasedAt <= submission.receivedAt
                && (claim.productID ?? purchase.productID) == purchase.productID
        }.min(by: Self.isOlder)
    }

    /// Whether the claimed id began a subscription, and its own period, if it is there, does not stand any more. A
    /// receipt may be older than the period that runs.
    func meansLaterPeriod(among purchases: [Purchase]) -> Bool {
        let exact = purchases.filter { $0.transactionID == submission.claim.transactionID }
        return purchases.contains(where: beganWithClaimed) && (exact.isEmpty || submission.orderID == nil)
            && !exact.contains(where: moment.stands)
    }

    private func beganWithClaimed(_ purchase: Purchase) -> Bool {
        purchase.originalTransactionID == submission.claim.transactionID
            && (purchase.type ?? purchase.presumedType) == .autoRenewable
    }

    /// Says what stands at the moment of submission.
    private var moment: PurchaseCheck { PurchaseCheck(app: app, submission: submission, attestsTokens: true) }

    /// The newest purchase of the claimed product, where the claimed id is in no evidence.
    ///
    /// StoreKit 1 knows a restored or renewed purchase by an id that neither the receipt nor Apple's reply to it has.
    /// `SKPaymentTransaction` had another id than the receipt [in
    /// production](https://developer.apple.com/forums/thread/818973). So an owned product that is not used up answers
    /// the claim by its name. It must be known that it is not used up: a product that looks like one that is owned may be
    /// a consumable, bought once more. A receipt alone may be older than a renewal, so it answers for no subscription.
    private func standing(
        among purchases: [Purchase], _ check: PurchaseCheck, _ verifiedBy: VerifiedBy
    ) -> GrantablePurchase? {
        guard submission.claim.transactionID != nil, let product = submission.claim.productID else { return nil }
        let passing = purchases.filter { $0.productID == product }.sorted(by: Self.isOlder).compactMap { purchase in
            if case .passes(let passed) = check.finding(on: purchase) { passed } else { nil as GrantablePurchase? }
        }
        return passing.last {
            switch $0.type {
            case .nonConsumable: check.isTypeKnown(of: $0.purchase)
            case .autoRenewable: verifiedBy != .local
            case .consumable, .nonRenewing: false
            }
        }
    }

    private func notFound(among purchases: [Purchase]) -> Rejection {
        let claim = submission.claim
        let detail =
            if claim.transactionID != nil {
                "Apple attests no such transaction." + claim.hintOfRounding(among: purchases.lazy.map(\.transactionID))
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

extension NamedPurchase {
    /// Whether a claim names this purchase, or none.
    fileprivate func isExactly(_ claim: Claim) -> Bool {
        (claim.transactionID ?? transactionID) == transactionID && (claim.productID ?? productID) == productID
    }
}

extension [PassedOver.Entry] {
    fileprivate mutating func append(_ purchase: Purchase, _ reason: PassedOver.Reason?) {
        if let reason { append(PassedOver.Entry(purchase.transactionID, purchase.productID, reason)) }
    }
}

/// Purchases that Apple attests without everything that a grant needs, in a known form. Only their names are kept.
///
/// The claimed purchase may be one of them. That is never the player's fault, so a person must decide. Unclaimed ones
/// are ignored.
struct UnreadablePurchases: Sendable {
    private struct Name {
        let transactionID: TransactionID?
        /// The original's id is what SDKs hand out for restored purchases.
        let originalTransactionID: TransactionID?
        let productID: ProductID?
        let reason: UnreadablePurchase
        /// The names of its grant, if there is one; nil where they are not known.
        let granted: NamedPurchase?
    }

    private var names: [Name] = []

    /// Adds a purchase, with the names that can be read.
    mutating func append(
        transactionID: TransactionID?, original: TransactionID? = nil, productID: ProductID?,
        as reason: UnreadablePurchase = .incomplete, granted: NamedPurchase? = nil
    ) {
        names.append(
            Name(
                transactionID: transactionID, originalTransactionID: original, productID: productID, reason: reason,
                granted: granted))
    }

    /// Why one of them may be the claimed purchase, and cannot be judged; nil if none may be. A name that could not be
    /// read may be any name. The least understood purchase counts.
    func claimed(by submission: Submission, beside purchases: [Purchase]) -> UnreadablePurchase? {
        let reasons = named(by: submission.claim, beside: purchases).map(\.reason)
        return reasons.first { $0.passedOver == nil } ?? reasons.first
    }

    /// The names of all purchases that may be claimed; nil where one of them has none.
    func names(of submission: Submission, beside purchases: [Purchase]) -> [NamedPurchase]? {
        let claimed = named(by: submission.claim, beside: purchases)
        let names = claimed.compactMap(\.granted).filter { $0.isExactly(submission.claim) }
        return names.count == claimed.count ? names : nil
    }

    /// The understood purchases with ids that may be claimed and are passed over beside others.
    func understood(
        by submission: Submission, beside purchases: [Purchase]
    ) -> [(entry: PassedOver.Entry, names: NamedPurchase?)] {
        named(by: submission.claim, beside: purchases).compactMap { name in
            guard let transactionID = name.transactionID, let reason = name.reason.passedOver else { return nil }
            return (PassedOver.Entry(transactionID, name.productID ?? "-", reason), name.granted)
        }
    }

    private func named(by claim: Claim, beside purchases: [Purchase]) -> [Name] {
        guard !names.isEmpty else { return [] }
        let isRead = purchases.contains { purchase in
            claim.transactionID.map { $0 == purchase.transactionID } ?? (claim.productID == purchase.productID)
        }
        return names.filter { name in
            // Where a purchase stands there twice, once readable and once not, the unreadable record may be its refund.
            if let claimed = claim.transactionID {
                if name.transactionID == claimed { return true }
                return !isRead && (name.transactionID == nil || name.originalTransactionID == claimed)
            }
            // A name without a purchase of its own may be an SKU of the Advanced Commerce API.
            return claim.productID == nil || name.productID == nil || name.productID == claim.productID
                || (name.reason == .advancedCommerce && !isRead)
        }
    }
}
