import Purchases

/// `receipt` in an answer. Its ids are numbers; its dates are texts in three spellings.
struct AnsweredReceipt: Encodable, Sendable {
    private let receipt: ReceiptSpecification
    private let now: Timestamp

    init(_ receipt: ReceiptSpecification, now: Timestamp) {
        self.receipt = receipt
        self.now = now
    }

    func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Key.self)
        // Apple's sandbox has no app record, so its ids are zero.
        let isProduction = receipt.environment == .production
        try members.encode(receipt.environment.receiptType, forKey: "receipt_type")
        try members.encode(isProduction ? 1_234_567_890 : 0, forKey: "adam_id")
        try members.encode(isProduction ? 1_234_567_890 : 0, forKey: "app_item_id")
        try members.encode(receipt.bundleID.rawValue, forKey: "bundle_id")
        try members.encode("1", forKey: "application_version")
        try members.encode(isProduction ? 80_000_000_000_001 : 0, forKey: "download_id")
        try members.encode(isProduction ? 830_000_001 : 0, forKey: "version_external_identifier")
        try members.encode("1.0", forKey: "original_application_version")
        try members.encode(receipt.creationDate, forDate: "receipt_creation_date")
        try members.encode(now, forDate: "request_date")
        try members.encode(ReceiptPayload.originalPurchaseDate, forDate: "original_purchase_date")
        let shown = receipt.purchases.filter { $0.placement != .latestReceiptInfo }
        try members.encode(shown.map { AnsweredPurchase($0, isLatest: false) }, forKey: "in_app")
    }
}

/// An element of `in_app` or `latest_receipt_info`. All of its values are texts.
struct AnsweredPurchase: Encodable, Sendable {
    private let purchase: SimulatedPurchase
    /// Whether it stands in `latest_receipt_info`, which tells more.
    private let isLatest: Bool

    init(_ purchase: SimulatedPurchase, isLatest: Bool) {
        self.purchase = purchase
        self.isLatest = isLatest
    }

    func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Key.self)
        try members.encode(String(purchase.quantity), forKey: "quantity")
        try members.encode(purchase.productID.rawValue, forKey: "product_id")
        try members.encode(purchase.transactionID.rawValue, forKey: "transaction_id")
        try members.encode(purchase.originalTransactionID.rawValue, forKey: "original_transaction_id")
        try members.encode(purchase.purchasedAt, forDate: "purchase_date")
        try members.encode(purchase.originalPurchasedAt, forDate: "original_purchase_date")
        try members.encode("false", forKey: "is_trial_period")
        if let expiresAt = purchase.expiresAt { try members.encode(expiresAt, forDate: "expires_date") }
        if purchase.kind == .autoRenewable { try members.encode("false", forKey: "is_in_intro_offer_period") }
        if let lineItem = purchase.webOrderLineItemID {
            try members.encode(String(lineItem), forKey: "web_order_line_item_id")
        }
        if let cancelledAt = purchase.cancelledAt {
            try members.encode(cancelledAt, forDate: "cancellation_date")
            try members.encode(purchase.cancellationReason ?? "0", forKey: "cancellation_reason")
        }
        // `in_app` has the ownership, too; the token and the upgrade stand in `latest_receipt_info` only.
        try members.encode(purchase.ownership.answered, forKey: "in_app_ownership_type")
        guard isLatest else { return }
        if let token = purchase.appAccountToken { try members.encode(token, forKey: "app_account_token") }
        if purchase.isUpgraded { try members.encode("true", forKey: "is_upgraded") }
        if purchase.kind == .autoRenewable {
            try members.encode(PendingRenewal.group, forKey: "subscription_group_identifier")
        }
    }
}

extension Ownership {
    /// Its name in receipts' answers and in signed data.
    var answered: String {
        switch self {
        case .purchased: "PURCHASED"
        case .familyShared: "FAMILY_SHARED"
        }
    }
}
