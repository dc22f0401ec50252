import Purchases

/// Holds one attested purchase against the app's rules and the submission's claims.
struct PurchaseCheck: Sendable {
    /// What came of it.
    enum Finding: Hashable, Sendable {
        case passes(GrantablePurchase)
        /// For good.
        case fails(Rejection)
        /// Our catalogue and Apple's word do not go together; a person must decide.
        case waits(HoldCause, detail: String)
    }

    /// Units of one purchase that StoreKit sells of consumables and non-renewing subscriptions
    /// ([quantity](https://developer.apple.com/documentation/storekit/skmutablepayment/quantity)).
    static let quantities = 1...10

    let app: App
    let submission: Submission
    let receivedAt: Timestamp

    /// Checks in a fixed order, from whose purchase it is to whether it still stands: environment, product, type, owner,
    /// account token, quantity, revocation, end of period. A refund is the better answer to somebody whose period is over,
    /// too.
    func finding(on purchase: Purchase) -> Finding {
        guard purchase.environment == .production || app.sandbox.allows(submission.userID) else {
            return fails(.environmentNotAllowed, "This app does not grant this user's sandbox purchases.", purchase)
        }
        if let claimed = submission.productID, claimed != purchase.productID {
            return fails(.productMismatch, "Apple attests another product than the one claimed.", purchase)
        }
        guard let product = product(of: purchase) else {
            return fails(.unknownProduct, "The product is not in the app's catalogue.", purchase)
        }
        if let contradiction = contradiction(between: product.type, and: purchase) { return contradiction }
        if let rejection = ownerRejection(of: purchase, type: product.type) { return .fails(rejection) }
        let allowed = product.type.isSoldInUnits ? Self.quantities : 1...1
        guard allowed.contains(purchase.quantity) else {
            return fails(.quantityOutOfRange, "The attested quantity is none that Apple sells.", purchase)
        }
        if let rejection = standingRejection(of: purchase, type: product.type) { return .fails(rejection) }
        guard let items = items(of: product, units: purchase.quantity) else {
            return .waits(
                .unknownAnswer, detail: "The catalogue's items times the quantity is more than can be counted.")
        }
        return .passes(GrantablePurchase(purchase: purchase, type: product.type, items: items))
    }

    private func ownerRejection(of purchase: Purchase, type: ProductType) -> Rejection? {
        // Apple never shares consumables, so one that says it is shared is refused whatever the app allows.
        if purchase.ownership == .familyShared, type == .consumable || !app.acceptsFamilySharing {
            return rejection(.familySharedNotAllowed, "The purchase is shared within a family.", purchase)
        }
        if let claimed = submission.appAccountToken, let attested = purchase.appAccountToken,
            claimed.lowercased() != attested.lowercased()
        {
            return rejection(.accountTokenMismatch, "The purchase was made for another account.", purchase)
        }
        return nil
    }

    private func standingRejection(of purchase: Purchase, type: ProductType) -> Rejection? {
        if purchase.revokedAt != nil {
            return rejection(.transactionRevoked, "Apple refunded or revoked the purchase.", purchase)
        }
        if purchase.isUpgraded {
            return rejection(.transactionRevoked, "The subscription was upgraded to another one.", purchase)
        }
        if type == .autoRenewable, let expiresAt = purchase.expiresAt, expiresAt <= receivedAt {
            return rejection(.subscriptionExpired, "The paid period was over when it was claimed.", purchase)
        }
        return nil
    }

    /// The catalogue's row. Without a catalogue one unit of a product is one item of its own name.
    private func product(of purchase: Purchase) -> Product? {
        guard let products = app.products else {
            return Product(
                id: purchase.productID, type: purchase.type ?? presumedType(of: purchase),
                items: [Item(item: purchase.productID.rawValue, quantity: 1)])
        }
        return products[purchase.productID]
    }

    /// The type where nobody says it. Only subscriptions have an end, and of what has none only consumables are sold by
    /// the dozen. What is left counts as non-consumable, so that its grant key is the original transaction's: a restore
    /// then cannot grant it again, and a consumable, which is its own original, is granted once per purchase all the same.
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
        // Apple lets developers set an end for non-renewing subscriptions; one that is attested as such stays what it is.
        case (false, true) where purchase.type != nil: nil
        case (false, true):
            .waits(
                .unknownAnswer,
                detail: "The catalogue has \(purchase.productID) as \(type.rawValue); Apple attests a subscription.")
        }
    }

    /// Nil if a product is too large for an integer.
    private func items(of product: Product, units: Int) -> [Item]? {
        var items: [Item] = []
        for item in product.items {
            let (quantity, overflow) = item.quantity.multipliedReportingOverflow(by: units)
            guard !overflow else { return nil }
            items.append(Item(item: item.item, quantity: quantity))
        }
        return items
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
