public import Contract

/// A transaction whose signature held. It is Apple's word; whether it may be granted is not decided yet.
public struct SignedTransaction: Hashable, Sendable {
    /// When Apple signed it, which is at every fetch anew.
    public let signedAt: Timestamp
    /// The app; nil where Apple names none, which was seen once in a million.
    public let bundleID: BundleID?
    /// `transactionId`, whether or not the rest can be read.
    public let transactionID: TransactionID?
    /// `appTransactionId`: the customer's account in this app, the same for all that it buys; nil in older transactions.
    public let appTransactionID: String?
    /// `environment` as Apple writes it, `Production` or `Sandbox`.
    public let environment: String?
    /// The purchase, or what keeps it from being one.
    public let purchase: Result<Purchase, UnreadablePurchase>

    /// Reads a payload whose signature was verified.
    ///
    /// - Throws: `payloadUnreadable`, `notATransaction`, `noSigningDate`.
    package init(payload json: [UInt8]) throws(SignedTransactionError) {
        let payload = try TransactionPayload(json: json)
        transactionID = payload.text("transactionId").map { TransactionID($0) }
        guard transactionID != nil || payload.text("purchaseDate") != nil else { throw .notATransaction }
        guard let signedAt = payload.text("signedDate").flatMap(LenientNumber.moment) else { throw .noSigningDate }
        self.signedAt = Timestamp(milliseconds: signedAt)
        bundleID = payload.text("bundleId").map { BundleID($0) }
        appTransactionID = payload.text("appTransactionId")
        environment = payload.text("environment")
        purchase = Result { () throws(UnreadablePurchase) in try Purchase(payload) }
    }

    /// Whether it is of Xcode or of local tests, whose signatures are a developer's.
    var isLocalTesting: Bool { environment == "Xcode" || environment == "LocalTesting" }
}

extension Purchase {
    /// Reads the purchase from a payload. Members that decide a grant must be readable if they are there.
    fileprivate init(_ payload: TransactionPayload) throws(UnreadablePurchase) {
        self.init(
            transactionID: TransactionID(try payload.required("transactionId", Self.identifier)),
            originalTransactionID: TransactionID(try payload.required("originalTransactionId", Self.identifier)),
            webOrderLineItemID: try payload.value("webOrderLineItemId", Self.identifier).flatMap(LineItem.id),
            productID: ProductID(try payload.required("productId") { $0 }),
            // Saturates, so that the policy and not the reader refuses what is out of range.
            quantity: try payload.value("quantity", LenientNumber.integer) ?? 1,
            environment: try payload.required("environment") { Self.environments[$0] },
            purchasedAt: try payload.required("purchaseDate") {
                LenientNumber.moment($0).map { Timestamp(milliseconds: $0) }
            },
            expiresAt: try payload.moment("expiresDate"), revokedAt: try Self.revocation(payload),
            isUpgraded: try payload.value("isUpgraded", LenientNumber.flag) ?? false,
            ownership: try payload.value("inAppOwnershipType") { Self.ownerships[$0] } ?? .purchased,
            // What is no UUID binds nobody.
            appAccountToken: payload.text("appAccountToken").flatMap(Claim.accountToken),
            type: try payload.value("type") { Self.types[$0] }, payment: Self.payment(payload),
            offer: Self.offer(payload))
    }

    private static let environments: [String: Environment] = ["Production": .production, "Sandbox": .sandbox]

    private static let ownerships: [String: Ownership] = ["PURCHASED": .purchased, "FAMILY_SHARED": .familyShared]

    private static let types: [String: ProductType] = [
        "Consumable": .consumable, "Non-Consumable": .nonConsumable, "Non-Renewing Subscription": .nonRenewing,
        "Auto-Renewable Subscription": .autoRenewable,
    ]

    /// A purchase that Apple took back has a date. One that has only other members about it is of a form that this
    /// version does not know.
    private static func revocation(_ payload: TransactionPayload) throws(UnreadablePurchase) -> Timestamp? {
        if let moment = try payload.moment("revocationDate") { return moment }
        let isRevoked = ["revocationReason", "revocationType", "revocationPercentage"].contains {
            payload.text($0) != nil
        }
        if isRevoked { throw .missing("revocationDate") }
        return nil
    }

    private static func identifier(_ text: String) -> String? {
        TransactionID(text).isWellFormed ? text : nil
    }

    /// Nothing of it can lose a purchase: what is in another form is left out.
    private static func payment(_ payload: TransactionPayload) -> Payment? {
        // Of a purchase of several seats the price is the average of a seat, and ours is the whole quantity's.
        let price = payload.has("multiSeatInfo") ? nil : payload.text("price").flatMap(milliunits)
        let currency = payload.text("currency").flatMap(threeLetters)
        let storefront = payload.text("storefront").flatMap(threeLetters)
        guard price != nil || currency != nil || storefront != nil else { return nil }
        return Payment(price: price, currency: currency, storefront: storefront)
    }

    /// The offer, of which nothing can lose a purchase either. One of a type that this version does not know is left
    /// out; Apple's numbers are those of
    /// [offerType](https://developer.apple.com/documentation/appstoreserverapi/offertype).
    private static func offer(_ payload: TransactionPayload) -> Offer? {
        guard let type = payload.text("offerType").flatMap(LenientNumber.integer) else { return nil }
        let discountType = payload.text("offerDiscountType").flatMap { discountTypes[$0] }
        let kind: Offer.Kind? =
            switch type {
            case 1: discountType == .freeTrial ? .trial : .introductory
            case 2: .promotional
            case 3: .offerCode
            case 4: .winBack
            default: nil
            }
        return kind.map { Offer(kind: $0, discountType: discountType) }
    }

    private static let discountTypes: [String: Offer.DiscountType] = [
        "FREE_TRIAL": .freeTrial, "PAY_AS_YOU_GO": .payAsYouGo, "PAY_UP_FRONT": .payUpFront, "ONE_TIME": .oneTime,
    ]

    /// Whole thousandths, rounded down; nil for less than nothing.
    private static func milliunits(_ text: String) -> Int64? {
        if let price = Int64(text) { return price < 0 ? nil : price }
        guard let price = Double(text), price >= 0 else { return nil }
        return Int64(exactly: price.rounded(.down))
    }

    private static func threeLetters(_ text: String) -> String? {
        text.utf8.count == 3 && text.utf8.allSatisfy { (0x41...0x5A).contains($0) } ? text : nil
    }
}
