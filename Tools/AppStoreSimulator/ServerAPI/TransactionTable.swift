internal import Contract

/// The transactions that the App Store Server API knows, in memory only.
struct TransactionTable: Sendable {
    /// Transactions at once.
    static let limit = 500_000
    /// Transactions of one customer at once, so that a page of a history is found fast.
    static let customerLimit = 10_000

    /// Why a transaction is not taken: there is no room; ``clear()`` it.
    enum Full: Error, Equatable {
        case transactions(limit: Int)
        case customer(limit: Int)
    }

    /// A transaction in its place of the customer's history.
    struct Entry: Equatable, Sendable {
        fileprivate(set) var registration: Registration
        /// Grows with every change of any transaction: histories are in this order, as Apple's are by date of change.
        fileprivate(set) var revision: Int
        /// Real answers so far that it is not found.
        fileprivate var misses = 0

        fileprivate func isVisible(now: Timestamp) -> Bool {
            switch registration.appearance {
            case .atOnce: true
            case .afterCalls(let count): misses >= count
            case .from(let milliseconds): now.milliseconds >= milliseconds
            }
        }
    }

    private struct Key: Hashable {
        let environment: Environment
        let id: TransactionID
    }

    private struct Customer: Hashable {
        let environment: Environment
        let bundleID: BundleID
        let appTransactionID: String
    }

    private var entries: [Key: Entry] = [:]
    private var customers: [Customer: Set<TransactionID>] = [:]
    /// By original transaction: the others that came of it.
    private var descendants: [Key: Set<TransactionID>] = [:]
    private var revision = 0

    /// Takes a transaction, instead of an earlier one of the same id and environment.
    mutating func register(_ registration: Registration) throws(Full) {
        let transaction = registration.transaction
        let key = Key(environment: transaction.environment, id: transaction.purchase.transactionID)
        let customer = Self.customer(of: transaction)
        let known = entries[key]
        guard known != nil || entries.count < Self.limit else { throw .transactions(limit: Self.limit) }
        let isListed = customers[customer]?.contains(key.id) ?? false
        guard isListed || customers[customer]?.count ?? 0 < Self.customerLimit else {
            throw .customer(limit: Self.customerLimit)
        }
        if let known { forget(known.registration.transaction) }
        customers[customer, default: []].insert(key.id)
        if let original = Self.original(of: transaction) { descendants[original, default: []].insert(key.id) }
        revision += 1
        entries[key] = Entry(registration: registration, revision: revision)
    }

    /// Marks a transaction as refunded or revoked. False if it is not known.
    mutating func revoke(
        _ id: TransactionID, in environment: Environment, at moment: Timestamp, reason: String
    ) -> Bool {
        let key = Key(environment: environment, id: id)
        guard var entry = entries[key] else { return false }
        revision += 1
        entry.revision = revision
        entry.registration.transaction.purchase.cancelledAt = moment
        entry.registration.transaction.purchase.cancellationReason = reason
        entries[key] = entry
        return true
    }

    mutating func clear() {
        entries = [:]
        customers = [:]
        descendants = [:]
    }

    /// A transaction of an app; nil if there is none, or not yet. Each such call brings its appearance nearer.
    mutating func transaction(
        _ id: TransactionID, of app: BundleID, in environment: Environment, now: Timestamp
    ) -> Entry? {
        let key = Key(environment: environment, id: id)
        guard let entry = entries[key], entry.registration.transaction.bundleID == app else { return nil }
        guard entry.isVisible(now: now) else {
            entries[key]?.misses += 1
            return nil
        }
        return entry
    }

    /// Everything that the customer of a transaction bought in an app, in order of change; nil if there is no such
    /// transaction, or not yet.
    ///
    /// - Parameter id: A transaction's own id, or the original one of any.
    mutating func history(
        _ id: TransactionID, of app: BundleID, in environment: Environment, now: Timestamp
    ) -> [Entry]? {
        let key = Key(environment: environment, id: id)
        let found = entries[key] == nil ? descendants[key]?.min() ?? id : id
        guard let entry = transaction(found, of: app, in: environment, now: now) else { return nil }
        return (customers[Self.customer(of: entry.registration.transaction)] ?? [])
            .compactMap { entries[Key(environment: environment, id: $0)] }
            .filter { $0.isVisible(now: now) }
            .sorted { $0.revision < $1.revision }
    }

    /// Takes a transaction out of everything that leads to it.
    private mutating func forget(_ transaction: TransactionSpecification) {
        let customer = Self.customer(of: transaction)
        customers[customer]?.remove(transaction.purchase.transactionID)
        if customers[customer]?.isEmpty == true { customers[customer] = nil }
        guard let original = Self.original(of: transaction) else { return }
        descendants[original]?.remove(transaction.purchase.transactionID)
        if descendants[original]?.isEmpty == true { descendants[original] = nil }
    }

    /// Nil for a first purchase.
    private static func original(of transaction: TransactionSpecification) -> Key? {
        let purchase = transaction.purchase
        guard purchase.originalTransactionID != purchase.transactionID else { return nil }
        return Key(environment: transaction.environment, id: purchase.originalTransactionID)
    }

    private static func customer(of transaction: TransactionSpecification) -> Customer {
        Customer(
            environment: transaction.environment, bundleID: transaction.bundleID,
            appTransactionID: transaction.appTransactionID)
    }
}
