import Contract

/// Holds one attested purchase against the app's rules and the submission's claims.
struct PurchaseCheck: Sendable {
    enum Finding: Hashable, Sendable {
        case passes(GrantablePurchase)
        case fails(Rejection)
        /// The catalogue lacks its product, and nothing else is against it.
        case unlisted
        /// The rules need the purchase's account token, and this kind of evidence cannot say it.
        case tokenUnknown(Rejection)
        /// Our catalogue and Apple's word do not go together; a person must decide.
        case waits(HoldCause, detail: String)
    }

    /// Most units of one purchase that StoreKit sells of consumables and non-renewing subscriptions
    /// ([quantity](https://developer.apple.com/documentation/storekit/skmutablepayment/quantity)).
    static let mostUnits = 10

    static func sandboxNotAllowed(_ transactionID: TransactionID?, of productID: ProductID?) -> Rejection {
        Rejection(
            .environmentNotAllowed, "This app does not grant this user's sandbox purchases.",
            transactionID: transactionID, productID: productID)
    }

    let app: App
    let submission: Submission
    /// Whether the evidence names a purchase's account token where there is one, so that none means none.
    let attestsTokens: Bool

    /// Checks in a fixed order: environment, product, type, owner, account token, revocation, end of period, quantity.
    /// Revocation comes before the end, because a refund is the better answer if both apply. A purchase that
    /// contradicts the catalogue waits for a person, and fails only where no catalogue could grant it.
    func finding(on purchase: Purchase) -> Finding {
        if let finding = sandboxFinding(on: purchase) { return finding }
        if let claimed = submission.claim.productID, claimed != purchase.productID {
            return fails(.productMismatch, "Apple attests another product than the one claimed.", purchase)
        }
        guard let product = product(of: purchase) else { return findingOnUnlisted(purchase) }
        if let contradiction = contradiction(between: product.type, and: purchase) {
            return failureUnderAnyCatalogue(of: purchase) ?? contradiction
        }
        if purchase.ownership == .familyShared {
            guard app.acceptsFamilySharing else { return familyShared(purchase) }
            if product.type == .consumable {
                return .waits(
                    .productContradicted,
                    detail: "The catalogue has \(purchase.productID) as consumable; Apple attests a shared one.")
            }
        }
        if let finding = tokenFinding(on: purchase, type: product.type) { return finding }
        if let rejection = standingRejection(of: purchase, type: product.type) { return .fails(rejection) }
        // Apple also sells several seats of a subscription, to organisations and groups.
        guard (1...(product.type.isSoldInUnits ? Self.mostUnits : 1)).contains(purchase.quantity) else {
            // Another type would allow it, and Apple does not attest this one.
            let mayBeOfAnotherType = 1...Self.mostUnits ~= purchase.quantity && purchase.type == nil
            return .waits(
                mayBeOfAnotherType ? .productContradicted : .unknownAnswer,
                detail:
                    "The catalogue has \(purchase.productID) as \(product.type.rawValue); Apple attests "
                    + "\(purchase.quantity) units of it.")
        }
        guard let granted = GrantablePurchase(purchase, of: product) else {
            return .waits(
                .productContradicted, detail: "The catalogue's items times the quantity is more than can be counted.")
        }
        return .passes(granted)
    }

    /// Judges a purchase of a product that the catalogue does not list. It fails where it could not be granted under
    /// any catalogue, or where the app says that its catalogue is whole.
    private func findingOnUnlisted(_ purchase: Purchase) -> Finding {
        guard app.unlistedProducts == .hold else {
            return fails(.unknownProduct, "The product is not in the app's catalogue.", purchase)
        }
        return failureUnderAnyCatalogue(of: purchase) ?? .unlisted
    }

    /// Judges a purchase that cannot be granted as it is, by the rules that need no catalogue. Nil where no rule is
    /// against it.
    func findingOnUngrantable(_ purchase: Purchase, isOfClaimedProduct: Bool) -> Finding? {
        if let finding = sandboxFinding(on: purchase) { return finding }
        if !isOfClaimedProduct, let claimed = submission.claim.productID, claimed != purchase.productID {
            return fails(.productMismatch, "Apple attests another product than the one claimed.", purchase)
        }
        if purchase.ownership == .familyShared, !app.acceptsFamilySharing { return familyShared(purchase) }
        let type = purchase.type ?? purchase.presumedType
        return tokenFinding(on: purchase, type: type) ?? standingRejection(of: purchase, type: type).map { .fails($0) }
    }

    private func sandboxFinding(on purchase: Purchase) -> Finding? {
        guard purchase.environment == .sandbox, !app.sandbox.allows(submission.userID) else { return nil }
        return .fails(Self.sandboxNotAllowed(purchase.transactionID, of: purchase.productID))
    }

    private func failureUnderAnyCatalogue(of purchase: Purchase) -> Finding? {
        if purchase.ownership == .familyShared, !app.acceptsFamilySharing { return familyShared(purchase) }
        let type = purchase.type ?? purchase.presumedType
        if case .fails(let rejection) = tokenFinding(on: purchase, type: type) { return .fails(rejection) }
        return standingRejection(of: purchase, type: type).map { .fails($0) }
    }

    /// The names that a grant of it would have. The product type is the one that Apple attests, else the catalogue's,
    /// unless that contradicts Apple's word.
    func names(of purchase: Purchase) -> NamedPurchase {
        let listed = product(of: purchase)?.type
        let isContradicted =
            (listed == .autoRenewable) != (purchase.expiresAt != nil) || listed == .consumable && purchase.isRestored
        return NamedPurchase(
            purchase, as: purchase.type ?? (isContradicted ? nil : listed) ?? purchase.presumedType)
    }

    /// Whether a purchase may be claimed by the id of its original, whatever else goes back to that: their grant keys
    /// are the same. SDKs hand it out for restored purchases.
    func isKnown(_ purchase: Purchase, by original: TransactionID) -> Bool {
        goesBack(purchase, to: original) && kind(of: purchase) != .autoRenewable
    }

    /// Whether a purchase is a restored one or a period, whose original has this id. A consumable is its own original.
    func goesBack(_ purchase: Purchase, to original: TransactionID) -> Bool {
        purchase.originalTransactionID == original && kind(of: purchase) != .consumable
    }

    private func kind(of purchase: Purchase) -> ProductType {
        purchase.type ?? product(of: purchase)?.type ?? purchase.presumedType
    }

    /// Compares account tokens; nil if the claim passes.
    ///
    /// | Apple attests | claimed | `match` | `required` |
    /// |---|---|---|---|
    /// | a token | the same | passes | passes |
    /// | a token | another | mismatch | mismatch |
    /// | a token | none | held as missing | missing |
    /// | none | any or none | passes | missing |
    /// | cannot say | any or none | passes | looked up, or missing |
    ///
    /// `ignore` passes everything. An attested token also binds a claim without one, because a thief would omit it. But
    /// the backend may omit it, too, so the claim is held, unless the purchase does not stand any more.
    private func tokenFinding(on purchase: Purchase, type: ProductType) -> Finding? {
        guard app.accountToken != .ignore else { return nil }
        let claimed = submission.claim.appAccountToken
        if let attested = purchase.appAccountToken {
            guard let claimed else {
                let detail = "The purchase was made for an account, and the submission names none."
                guard app.accountToken == .match else { return fails(.accountTokenMissing, detail, purchase) }
                return standingRejection(of: purchase, type: type).map { .fails($0) }
                    ?? .waits(.accountTokenMissing, detail: detail)
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

    /// Whether Apple has not taken it back, and a paid period was not over at the moment of submission.
    func stands(_ purchase: Purchase) -> Bool {
        standingRejection(of: purchase, type: purchase.type ?? purchase.presumedType) == nil
    }

    /// Whether the catalogue or Apple names the type, or its ids show it. Else it is ``Purchase/presumedType``.
    func isTypeKnown(of purchase: Purchase) -> Bool {
        if case .catalogue = app.products { return true }
        return purchase.type != nil || purchase.expiresAt != nil || purchase.isRestored
    }

    private func standingRejection(of purchase: Purchase, type: ProductType) -> Rejection? {
        if purchase.revokedAt != nil {
            return rejection(.transactionRevoked, "Apple refunded or revoked the purchase.", purchase)
        }
        if purchase.isUpgraded {
            return rejection(.transactionRevoked, "The subscription was upgraded to another one.", purchase)
        }
        // Compared with the moment of submission, so that no delay of ours or Apple's costs a player a period.
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
                id: purchase.productID, type: purchase.type ?? purchase.presumedType,
                items: [Item(item: purchase.productID.rawValue, quantity: 1)])
        }
    }

    /// The type decides the grant key, so a wrong one could grant twice or not at all. Where Apple attests no type, the
    /// end shows it: only auto-renewable periods have one, and all of them.
    private func contradiction(between type: ProductType, and purchase: Purchase) -> Finding? {
        if let attested = purchase.type, attested != type {
            return .waits(
                .productContradicted,
                detail:
                    "The catalogue has \(purchase.productID) as \(type.rawValue); Apple attests \(attested.rawValue).")
        }
        // A consumable's two ids are the same, so this is a restore. By its own id each restore would be granted.
        if type == .consumable, purchase.type == nil, purchase.isRestored {
            return .waits(
                .productContradicted,
                detail: "The catalogue has \(purchase.productID) as consumable; Apple attests a restored one.")
        }
        return switch (type == .autoRenewable, purchase.expiresAt != nil) {
        case (true, true), (false, false): nil
        case (true, false):
            .waits(
                purchase.type == nil ? .productContradicted : .incompleteAnswer,
                detail:
                    "The catalogue has \(purchase.productID) as \(type.rawValue); Apple attests no end of its period.")
        // Apple lets developers set an end for non-renewing subscriptions. A purchase that is attested as non-renewing
        // stays that.
        case (false, true) where purchase.type != nil: nil
        case (false, true):
            .waits(
                .productContradicted,
                detail: "The catalogue has \(purchase.productID) as \(type.rawValue); Apple attests a subscription.")
        }
    }

    private func familyShared(_ purchase: Purchase) -> Finding {
        fails(.familySharedNotAllowed, "The purchase is shared within a family.", purchase)
    }

    private func fails(_ reason: FailureReason, _ detail: String, _ purchase: Purchase) -> Finding {
        .fails(rejection(reason, detail, purchase))
    }

    private func rejection(_ reason: FailureReason, _ detail: String, _ purchase: Purchase) -> Rejection {
        Rejection(reason, detail, transactionID: purchase.transactionID, productID: purchase.productID)
    }
}

extension Purchase {
    /// Its names by the kind that Apple attests, or that it looks like.
    var names: NamedPurchase { NamedPurchase(self, as: type ?? presumedType) }

    /// The type of a purchase where neither Apple nor the catalogue names it. Only subscriptions have an end. Of the
    /// others, only consumables have a quantity above one. The rest counts as non-consumable and has the grant key of
    /// its original transaction. A restore then cannot grant it again. A consumable is its own original, so it is still
    /// granted once per purchase.
    var presumedType: ProductType {
        if expiresAt != nil { return .autoRenewable }
        return quantity > 1 && !isRestored ? .consumable : .nonConsumable
    }

    /// Whether it is of an earlier purchase. In that of a consumable
    /// [both ids match](https://developer.apple.com/documentation/appstorereceipts/original_transaction_id).
    fileprivate var isRestored: Bool { transactionID != originalTransactionID }
}

extension ProductType {
    /// Whether one purchase may be of several units.
    fileprivate var isSoldInUnits: Bool { self == .consumable || self == .nonRenewing }
}
