internal import Contract

/// A transaction that the App Store Server API is to know.
public struct Registration: Hashable, Sendable {
    /// From when on it is found.
    public enum Appearance: Hashable, Sendable, Codable {
        case atOnce
        /// It is known after so many real answers that it is not found: Apple's servers may learn of a purchase after
        /// the app does.
        case afterCalls(count: Int)
        /// From a moment on, in milliseconds since 1970.
        case from(milliseconds: Int64)
    }

    /// A status as Get All Subscription Statuses has it.
    public enum SubscriptionStatus: Int, Hashable, Sendable, Codable, CaseIterable {
        case active = 1
        case expired = 2
        case billingRetry = 3
        case gracePeriod = 4
        case revoked = 5
    }

    /// Signed anew for each answer.
    public var transaction: TransactionSpecification
    public var appearance: Appearance
    /// Nil for what its dates say: revoked, expired or active.
    public var status: SubscriptionStatus?

    /// A transaction that is found at once unless said otherwise.
    public init(
        _ transaction: TransactionSpecification, appearance: Appearance = .atOnce, status: SubscriptionStatus? = nil
    ) {
        self.transaction = transaction
        self.appearance = appearance
        self.status = status
    }

    func status(now: Timestamp) -> SubscriptionStatus {
        if let status { return status }
        if transaction.purchase.cancelledAt != nil { return .revoked }
        return transaction.purchase.expiresAt.map { $0 > now } ?? true ? .active : .expired
    }
}
