/// Claimed purchases that Apple attests and that were left out beside those that are granted.
///
/// For people, and for the rule that nothing paid is lost to a catalogue that is late. Immutable and counted, so that a
/// purchase without it costs one empty reference.
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
        case quantityOutOfRange = "quantity_out_of_range"
        case environmentNotAllowed = "environment_not_allowed"
        case familySharedNotAllowed = "family_shared_not_allowed"
        case transactionRevoked = "transaction_revoked"
        case subscriptionExpired = "subscription_expired"
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

    /// One whose product the apps file does not list, by the key that its grant has if there is one.
    public struct Unlisted: Hashable, Sendable {
        public let transactionID: TransactionID
        public let key: GrantKey

        public init(_ transactionID: TransactionID, _ key: GrantKey) {
            self.transactionID = transactionID
            self.key = key
        }
    }

    /// So many of unlisted products are kept by their keys; with more, one may always be new.
    static let maxUnlisted = 64
    /// So many are named, those of the first reasons before the others. A history may have thousands.
    public static let maxNamed = 8
    /// So many products are named in a sentence.
    static let maxProductsInSentence = 3

    public let named: [Entry]
    /// How many were left out, those that are not named included.
    public let counts: [Reason: Int]
    /// For the decision alone: no ledger keeps it, and it makes no difference between two.
    public let unlisted: [Unlisted]

    /// - Parameters:
    ///   - named: Those beyond ``maxNamed`` are dropped.
    ///   - counts: Of all.
    public init(named: [Entry], counts: [Reason: Int], unlisted: [Unlisted] = []) {
        self.named = Array(named.prefix(Self.maxNamed))
        self.counts = counts
        self.unlisted = Array(unlisted.prefix(Self.maxUnlisted))
    }

    /// Counts purchases and names the first ones; nil for none.
    /// - Parameter entries: Oldest first. Of one reason the newest are named first.
    public convenience init?(_ entries: [Entry], unlisted: [Unlisted] = []) {
        guard !entries.isEmpty else { return nil }
        let newestFirst = entries.reversed()
        let ordered = Reason.allCases.lazy.flatMap { reason in newestFirst.lazy.filter { $0.reason == reason } }
        self.init(
            named: Array(ordered.prefix(Self.maxNamed)),
            counts: Dictionary(entries.map { ($0.reason, 1) }, uniquingKeysWith: +), unlisted: unlisted)
    }

    /// Says which products the apps file lacks, in the same words for the same products; nil if it lacks none.
    public var unlistedProducts: String? {
        guard counts[.productNotConfigured] != nil else { return nil }
        let products = Set(named.lazy.filter { $0.reason == .productNotConfigured }.map(\.productID)).sorted()
        let shown = products.prefix(Self.maxProductsInSentence).map(\.rawValue)
        let all = shown + (products.count > shown.count ? ["others"] : [])
        let text = all.dropLast().joined(separator: ", ") + (all.count > 1 ? " and " : "") + (all.last ?? "")
        return "Apple attests what the apps file does not list: \(text)."
    }

    /// Whether a purchase whose product the apps file lacks may be new.
    /// - Parameter isHeld: Whether somebody was granted it, while its product was listed.
    public func lacksProduct(isHeld: (Unlisted) -> Bool) -> Bool {
        (counts[.productNotConfigured] ?? 0) > unlisted.count || unlisted.contains { !isHeld($0) }
    }

    public static func == (left: PassedOver, right: PassedOver) -> Bool {
        left === right || (left.named == right.named && left.counts == right.counts)
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(counts) }
}

extension [GrantablePurchase] {
    /// Purchases left out beside them.
    public var passedOver: PassedOver? { last?.passedOver }
}
