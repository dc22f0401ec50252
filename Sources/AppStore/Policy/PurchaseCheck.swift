import Contract

/// Holds one attested purchase against the app's rules and the submission's claims.
struct PurchaseCheck: Sendable {
    enum Finding: Hashable, Sendable {
        case passes(GrantablePurchase)
        /// For good.
        case fails(Rejection)
        /// The rules need the purchase's account token, and this kind of evidence cannot say it.
        case tokenUnknown(Rejection)
        /// Our catalogue and Apple's word do not go together; a person must decide.
        case waits(HoldCause, detail: String)
    }

    /// Units of one purchase that StoreKit sells of consumables and non-renewing subscriptions
    /// ([quantity](https://developer.apple.com/documentation/storekit/skmutablepayment/quantity)).
    static let quantities = 1...10

    let app: App
    let submission: Submission
    /// Whether the evidence names a purchase's account token where there is one, so that none means none.
    let attestsTokens: Bool

    /// Checks in a fixed order, from whose purchase it is to whether it still stands: environment, product, type,
    /// owner, account token, quantity, revocation, end of period. A refund is the better answer to somebody whose
    /// period is over, too.
    func finding(on purchase: Purchase) -> Finding {
        guard purchase.environment == .production || app.sandbox.allows(submission.userID) else {
            return fails(.environmentNotAllowed, "This app does not grant this user's sandbox purchases.", purchase)
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

    /// Account tokens; nil where they go together.
    ///
    /// | Apple attests | claimed | `match` | `required` |
    /// |---|---|---|---|
    /// | a token | the same | passes | passes |
    /// | a token | another | mismatch | mismatch |
    /// | a token | none | missing | missing |
    /// | none | any or none | passes | missing |
    /// | cannot say | any or none | passes | looked up, or missing |
    ///
    /// `ignore` passes everything. An attested token binds a claim that leaves it out, too: a thief would leave it out.
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

    /// The type where nobody says it. Only subscriptions have an end, and of the others only consumables are sold by
    /// the dozen. The rest counts as non-consumable, so that its grant key is the original transaction's: a restore
    /// then cannot grant it again, and a consumable, which is its own original, is granted once per purchase all the
    /// same.
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
