internal import Contract

/// The body of an answer, as Apple's page "responseBody" of verifyReceipt has it. Refusals carry their status alone.
struct VerifyReceiptAnswer: Sendable {
    let status: Int
    private let environment: Environment
    private let now: Timestamp
    /// Nil for a refusal.
    private let receipt: ReceiptSpecification?
    private let base64: String
    private let latest: [SimulatedPurchase]
    private let renewals: [SimulatedPurchase]

    /// The answer to a validated request.
    ///
    /// - Parameter withoutPurchases: Whether every list is to be empty.
    init(_ result: ReceiptValidator.Result, environment: Environment, now: Timestamp, withoutPurchases: Bool) {
        status = result.status
        self.environment = environment
        self.now = now
        var receipt = result.status == 0 ? result.receipt : nil
        if withoutPurchases { receipt?.purchases = [] }
        self.receipt = receipt
        base64 = result.base64
        let latest = receipt?.purchases.filter { $0.placement != .inApp } ?? []
        let newest = Self.newestPeriods(of: latest)
        self.latest = result.excludesOldTransactions ? newest : latest
        renewals = newest.filter { $0.kind == .autoRenewable }
    }

    var bytes: [UInt8] {
        var writer = JSONObjectWriter(expecting: 1024 + 800 * (receipt?.purchases.count ?? 0) + base64.utf8.count)
        writer.member("status", Int64(status))
        guard let receipt else { return writer.finished() }
        writer.member("environment", environment.signedName)
        let now = now
        writer.member("receipt") { AnsweredReceipt(receipt, now: now).write(to: &$0) }
        guard !latest.isEmpty else { return writer.finished() }
        writer.member("latest_receipt_info", objects: latest) { AnsweredPurchase($0, isLatest: true).write(to: &$1) }
        writer.member("latest_receipt", base64)
        if !renewals.isEmpty {
            writer.member("pending_renewal_info", objects: renewals) { Self.write(renewalOf: $0, now: now, to: &$1) }
        }
        return writer.finished()
    }

    /// Whether a subscription goes on, by its last period. All values are texts.
    private static func write(renewalOf newest: SimulatedPurchase, now: Timestamp, to writer: inout JSONObjectWriter) {
        let goesOn = newest.cancelledAt == nil && newest.expiresAt.map { $0 > now } ?? true
        writer.member("product_id", newest.productID.rawValue)
        writer.member("auto_renew_product_id", newest.productID.rawValue)
        writer.member("original_transaction_id", newest.originalTransactionID.rawValue)
        writer.member("auto_renew_status", goesOn ? "1" : "0")
        guard !goesOn else { return }
        // 1: the customer ended it.
        writer.member("expiration_intent", "1")
        writer.member("is_in_billing_retry_period", "0")
    }

    /// Of each subscription its period that ends last; everything else as it is.
    private static func newestPeriods(of purchases: [SimulatedPurchase]) -> [SimulatedPurchase] {
        var newest: [TransactionID: SimulatedPurchase] = [:]
        for purchase in purchases where purchase.kind == .autoRenewable {
            let known = newest[purchase.originalTransactionID]
            if known.map({ $0.lastMoment < purchase.lastMoment }) ?? true {
                newest[purchase.originalTransactionID] = purchase
            }
        }
        return purchases.filter { $0.kind != .autoRenewable || newest[$0.originalTransactionID] == $0 }
    }
}

extension SimulatedPurchase {
    fileprivate var lastMoment: Timestamp { expiresAt ?? purchasedAt }
}
