/// Claimed purchases that Apple attests and that were left out beside granted ones. All but another user's are known
/// before the ledger is asked.
///
/// For people, and for the rule that a late catalogue loses no paid purchase. It is immutable and reference-counted, so
/// a purchase without it costs one empty reference.
public final class PassedOver: Sendable, Hashable {
    /// Why a purchase was left out, in the order in which people want to know. The raw values are those of hold causes
    /// and failure reasons, and label a metric.
    public enum Reason: String, Hashable, Sendable, CaseIterable {
        case productNotConfigured = "product_not_configured"
        case unknownProduct = "unknown_product"
        case advancedCommerce = "advanced_commerce"
        case partialRefund = "partial_refund"
        case accountTokenMissing = "account_token_missing"
        case accountTokenMismatch = "account_token_mismatch"
        case productMismatch = "product_mismatch"
        case environmentNotAllowed = "environment_not_allowed"
        case familySharedNotAllowed = "family_shared_not_allowed"
        case transactionRevoked = "transaction_revoked"
        case subscriptionExpired = "subscription_expired"
        case ownedByAnotherUser = "owned_by_another_user"
    }

    /// One purchase that was left out.
    public struct Entry: Hashable, Sendable {
        public let transactionID: TransactionID
        public let productID: ProductID
        public let reason: Reason

        public init(_ transactionID: TransactionID, _ productID: ProductID, _ reason: Reason) {
            self.transactionID = transactionID
            self.productID = productID
            self.reason = reason
        }
    }

    /// A purchase that holds a submission where nothing new is granted beside it.
    public struct Holding: Hashable, Sendable {
        public let reason: Reason
        public let purchase: NamedPurchase

        public init(_ reason: Reason, _ purchase: NamedPurchase) {
            self.reason = reason
            self.purchase = purchase
        }
    }

    /// So many are named, those of the first reasons before the others. A history may have thousands.
    static let maxNamed = 8
    /// So many products are named in a sentence.
    static let maxProductsInSentence = 3

    public let named: [Entry]
    /// How many were left out, those that are not named included.
    public let counts: [Reason: Int]
    /// The holding purchases with names. For the decision alone: no ledger keeps it, and it makes no difference between
    /// two.
    public let holding: [Holding]

    /// - Parameters:
    ///   - named: Entries beyond ``maxNamed`` are dropped.
    ///   - counts: Of all.
    public init(named: [Entry], counts: [Reason: Int], holding: [Holding]) {
        self.named = Array(named.prefix(Self.maxNamed))
        self.counts = counts
        self.holding = Array(holding.prefix(NamedPurchase.most))
    }

    /// Counts purchases and names the first ones; nil for none.
    /// - Parameter entries: Oldest first. Within a reason the newest are named first.
    public convenience init?(_ entries: [Entry], holding: [Holding] = []) {
        guard !entries.isEmpty else { return nil }
        let newestFirst = entries.reversed()
        let ordered = Reason.allCases.lazy.flatMap { reason in newestFirst.lazy.filter { $0.reason == reason } }
        self.init(
            named: Array(ordered.prefix(Self.maxNamed)),
            counts: Dictionary(entries.map { ($0.reason, 1) }, uniquingKeysWith: +), holding: holding)
    }

    /// The same with another user's purchases, as far as they can be named.
    public static func joined(_ known: PassedOver?, _ others: [Entry]) -> PassedOver? {
        guard let known else { return PassedOver(others) }
        guard let more = PassedOver(others) else { return known }
        return PassedOver(
            named: known.named + more.named, counts: known.counts.merging(more.counts, uniquingKeysWith: +),
            holding: known.holding)
    }

    /// Says which products the apps file lacks, in the same words for the same products; nil if it lacks none.
    public var unlistedProducts: String? {
        counts[.productNotConfigured] == nil
            ? nil : "Apple attests what the apps file does not list: \(products(.productNotConfigured))."
    }

    /// The products that were left out for a reason, in the same words for the same products.
    private func products(_ reason: Reason) -> String {
        let products = Set(named.lazy.filter { $0.reason == reason }.map(\.productID)).sorted()
        let shown = products.prefix(Self.maxProductsInSentence).map(\.rawValue)
        let all = shown + (products.count > shown.count || shown.isEmpty ? ["others"] : [])
        return all.dropLast().joined(separator: ", ") + (all.count > 1 ? " and " : "") + (all.last ?? "")
    }

    /// How many were left out and may be new: all but those that hold by themselves and were granted before.
    /// - Parameter isGranted: Whether the ledger has a grant of it, whoever's.
    public func counts(isGranted: (NamedPurchase) -> Bool) -> [Reason: Int] {
        var counts = counts
        for holding in holding where isGranted(holding.purchase) { counts[holding.reason, default: 0] -= 1 }
        return counts.filter { $0.value > 0 }
    }

    /// The reason to hold a submission in which nothing else is new; nil if no paid purchase in it lacks an answer. The
    /// first of the reasons counts.
    /// - Parameter isGranted: Whether the ledger has a grant of it, whoever's.
    public func hold(isGranted: (NamedPurchase) -> Bool) -> (cause: HoldCause, detail: String)? {
        let counts = counts(isGranted: isGranted)
        return Reason.allCases.lazy.filter { counts[$0] != nil }.compactMap(hold).first
    }

    /// The hold of one reason; nil for those that hold nothing.
    private func hold(_ reason: Reason) -> (cause: HoldCause, detail: String)? {
        switch reason {
        case .productNotConfigured: (.productNotConfigured, unlistedProducts ?? "")
        case .advancedCommerce:
            (.advancedCommerce, "SKUs of the Advanced Commerce API were bought: \(products(reason)).")
        case .partialRefund: (.partialRefund, "Apple refunded a part of what was never granted: \(products(reason)).")
        case .unknownProduct, .accountTokenMissing, .accountTokenMismatch, .productMismatch, .environmentNotAllowed,
            .familySharedNotAllowed, .transactionRevoked, .subscriptionExpired, .ownedByAnotherUser:
            nil
        }
    }

    /// Whether a row from before shows as many paid purchases that wait, for each reason.
    /// - Parameter isGranted: Whether the ledger has a grant of it, whoever's.
    public func isShown(by before: PassedOver?, isGranted: (NamedPurchase) -> Bool) -> Bool {
        counts(isGranted: isGranted).allSatisfy { reason, count in
            hold(reason) == nil || count <= before?.counts[reason] ?? 0
        }
    }

    /// Written by hand, as a class has no other. A test changes each member that reflection finds.
    public static func == (left: PassedOver, right: PassedOver) -> Bool {
        left === right || (left.named == right.named && left.counts == right.counts)
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(counts) }
}

extension [GrantablePurchase] {
    /// Purchases left out beside them.
    public var passedOver: PassedOver? { last?.passedOver }
}

extension FailureReason {
    /// The reason of one purchase that is left out beside others. Nil for reasons that are no single purchase's. A new
    /// reason belongs on one of the two sides.
    public var ofOnePurchase: PassedOver.Reason? {
        switch self {
        case .unknownProduct: .unknownProduct
        case .accountTokenMissing: .accountTokenMissing
        case .accountTokenMismatch: .accountTokenMismatch
        case .productMismatch: .productMismatch
        case .environmentNotAllowed: .environmentNotAllowed
        case .familySharedNotAllowed: .familySharedNotAllowed
        case .transactionRevoked: .transactionRevoked
        case .subscriptionExpired: .subscriptionExpired
        case .ownedByAnotherUser: .ownedByAnotherUser
        case .malformedSubmission, .unknownApp, .receiptMalformed, .receiptNotAuthentic, .signatureInvalid,
            .bundleMismatch, .transactionNotFound, .grantedToAnotherOrder, .accountGone,
            .abandonedByOperator:
            nil
        }
    }
}
