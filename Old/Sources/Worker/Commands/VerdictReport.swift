import Foundation
import Fulfillment
import Purchases

/// A verdict as JSON for people and scripts.
struct VerdictReport {
    private struct Report: Encodable {
        var verdict: String
        var reason: String?
        var detail: String?
        var verifiedBy: String?
        var purchases: [Entry]?
        var checks: [Check] = []
        var calls: [RecordingEndpoint.Call] = []
    }

    private struct Check: Encodable {
        let check, outcome, detail: String
    }

    private struct Entry: Encodable {
        let transactionId, originalTransactionId: String
        let webOrderLineItemId: String?
        let productId, productType: String
        let quantity: Int
        let items: [String: Int]
        let environment, purchasedAt: String
        let expiresAt: String?
        let ownership: String
        let price: Int64?
        let currency, storefront: String?
    }

    /// Whether the evidence holds something that could be granted.
    let isVerified: Bool
    private var report: Report

    /// - Parameters:
    ///   - checks: what was found without asking anybody.
    ///   - calls: what Apple was asked, in order.
    init(_ verdict: Verdict, checks: [EvidenceCheck], calls: [RecordingEndpoint.Call]) {
        self.init(verdict)
        report.checks = checks.map { Check(check: $0.name, outcome: $0.outcome, detail: $0.detail) }
        report.calls = calls
    }

    private init(_ verdict: Verdict) {
        switch verdict {
        case .verified(let purchases, let verifiedBy):
            isVerified = true
            report = Report(
                verdict: "verified", verifiedBy: verifiedBy.rawValue, purchases: purchases.map(Self.entry))
        case .rejected(let rejection):
            isVerified = false
            report = Report(verdict: "rejected", reason: rejection.reason.rawValue, detail: rejection.detail)
        case .retry(let cause, _, let patience):
            isVerified = false
            report = Report(verdict: "retry", reason: cause.rawValue, detail: Self.detail(of: patience))
        case .hold(let cause, let detail):
            isVerified = false
            report = Report(verdict: "hold", reason: cause.rawValue, detail: detail)
        }
    }

    func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(report)
    }

    private static func detail(of patience: Patience) -> String {
        switch patience {
        case .unlimited: "A worker tries again until Apple answers."
        case .tries(let count, let rejection):
            "A worker fails it as \(rejection.reason.rawValue) after \(count) such answers."
        case .window(let rejection): "A worker fails it as \(rejection.reason.rawValue) if this lasts."
        }
    }

    private static func entry(_ granted: GrantablePurchase) -> Entry {
        let purchase = granted.purchase
        return Entry(
            transactionId: purchase.transactionID.rawValue,
            originalTransactionId: purchase.originalTransactionID.rawValue,
            webOrderLineItemId: purchase.webOrderLineItemID, productId: purchase.productID.rawValue,
            productType: granted.type.rawValue, quantity: purchase.quantity,
            items: Dictionary(granted.items.map { ($0.item, $0.quantity) }, uniquingKeysWith: +),
            environment: purchase.environment.rawValue, purchasedAt: purchase.purchasedAt.rfc3339,
            expiresAt: purchase.expiresAt?.rfc3339, ownership: purchase.ownership.rawValue,
            price: purchase.payment?.price, currency: purchase.payment?.currency,
            storefront: purchase.payment?.storefront)
    }
}
