import Purchases

/// The body of an answer, as Apple's page "responseBody" of verifyReceipt has it. What is nil is left out.
struct VerifyReceiptAnswer: Encodable, Sendable {
    var status: Int
    var environment: String?
    var receipt: AnsweredReceipt?
    var latestReceipt: String?
    var latestReceiptInfo: [AnsweredPurchase]?
    var pendingRenewalInfo: [PendingRenewal]?

    private enum CodingKeys: String, CodingKey {
        case status
        case environment
        case receipt
        case latestReceipt = "latest_receipt"
        case latestReceiptInfo = "latest_receipt_info"
        case pendingRenewalInfo = "pending_renewal_info"
    }

    init(status: Int, environment: Environment) {
        self.status = status
        self.environment = environment == .production ? "Production" : "Sandbox"
    }

    /// What a judgement amounts to. Refusals carry their status alone.
    ///
    /// - Parameter withoutPurchases: Whether every list is to be empty.
    init(_ judgement: ReceiptJudge.Judgement, environment: Environment, now: Timestamp, withoutPurchases: Bool) {
        self.init(status: judgement.status, environment: environment)
        guard judgement.status == 0, var receipt = judgement.receipt else {
            self.environment = nil
            return
        }
        if withoutPurchases { receipt.purchases = [] }
        self.receipt = AnsweredReceipt(receipt, now: now)
        let latest = receipt.purchases.filter { $0.placement != .inApp }
        guard !latest.isEmpty else { return }
        let shown = judgement.excludesOldTransactions ? Self.newestPeriods(of: latest) : latest
        latestReceiptInfo = shown.map { AnsweredPurchase($0, isLatest: true) }
        latestReceipt = judgement.base64
        let renewals = Self.newestPeriods(of: latest).filter { $0.kind == .autoRenewable }
        if !renewals.isEmpty { pendingRenewalInfo = renewals.map { PendingRenewal($0, now: now) } }
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
