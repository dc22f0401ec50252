internal import Contract

/// `receipt` in an answer. Its ids are numbers; its dates are texts in three spellings.
struct AnsweredReceipt {
    private let receipt: ReceiptSpecification
    private let now: Timestamp

    init(_ receipt: ReceiptSpecification, now: Timestamp) {
        self.receipt = receipt
        self.now = now
    }

    func write(to writer: inout JSONObjectWriter) {
        // Apple's sandbox has no app record, so its ids are zero.
        let isProduction = receipt.environment == .production
        writer.member("receipt_type", receipt.environment.receiptType)
        writer.member("adam_id", isProduction ? 1_234_567_890 : 0)
        writer.member("app_item_id", isProduction ? 1_234_567_890 : 0)
        writer.member("bundle_id", receipt.bundleID.rawValue)
        writer.member("application_version", "1")
        writer.member("download_id", isProduction ? 80_000_000_000_001 : 0)
        writer.member("version_external_identifier", isProduction ? 830_000_001 : 0)
        writer.member("original_application_version", "1.0")
        writer.date(
            receipt.creationDate, "receipt_creation_date", "receipt_creation_date_ms", "receipt_creation_date_pst")
        writer.date(now, "request_date", "request_date_ms", "request_date_pst")
        writer.date(
            ReceiptPayload.originalPurchaseDate, "original_purchase_date", "original_purchase_date_ms",
            "original_purchase_date_pst")
        let shown = receipt.purchases.filter { $0.placement != .latestReceiptInfo }
        writer.member("in_app", objects: shown) { AnsweredPurchase($0, isLatest: false).write(to: &$1) }
    }
}

/// An element of `in_app` or `latest_receipt_info`. All of its values are texts.
struct AnsweredPurchase {
    private let purchase: SimulatedPurchase
    /// Whether it stands in `latest_receipt_info`, which has more members.
    private let isLatest: Bool

    init(_ purchase: SimulatedPurchase, isLatest: Bool) {
        self.purchase = purchase
        self.isLatest = isLatest
    }

    func write(to writer: inout JSONObjectWriter) {
        writer.member("quantity", String(purchase.quantity))
        writer.member("product_id", purchase.productID.rawValue)
        writer.member("transaction_id", purchase.transactionID.rawValue)
        writer.member("original_transaction_id", purchase.originalTransactionID.rawValue)
        writer.date(purchase.purchasedAt, "purchase_date", "purchase_date_ms", "purchase_date_pst")
        writer.date(
            purchase.originalPurchasedAt, "original_purchase_date", "original_purchase_date_ms",
            "original_purchase_date_pst")
        writer.member("is_trial_period", "false")
        if let expiresAt = purchase.expiresAt {
            writer.date(expiresAt, "expires_date", "expires_date_ms", "expires_date_pst")
        }
        if purchase.kind == .autoRenewable { writer.member("is_in_intro_offer_period", "false") }
        writer.member("web_order_line_item_id", purchase.webOrderLineItemID.map { String($0) })
        if let cancelledAt = purchase.cancelledAt {
            writer.date(cancelledAt, "cancellation_date", "cancellation_date_ms", "cancellation_date_pst")
            writer.member("cancellation_reason", purchase.cancellationReason ?? "0")
        }
        // `in_app` has the ownership, too; the token and the upgrade stand in `latest_receipt_info` only.
        writer.member("in_app_ownership_type", purchase.ownership.answeredName)
        guard isLatest else { return }
        writer.member("app_account_token", purchase.appAccountToken)
        if purchase.isUpgraded { writer.member("is_upgraded", "true") }
        if purchase.kind == .autoRenewable {
            writer.member("subscription_group_identifier", SimulatedPurchase.subscriptionGroup)
        }
    }
}

extension JSONObjectWriter {
    /// Writes a moment as Apple does: in GMT, in milliseconds, and in Cupertino's time.
    fileprivate mutating func date(
        _ moment: Timestamp, _ name: StaticString, _ milliseconds: StaticString, _ pacific: StaticString
    ) {
        let dates = AppleDates(moment)
        member(name, dates.gmt)
        member(milliseconds, dates.milliseconds)
        member(pacific, dates.pst)
    }
}
