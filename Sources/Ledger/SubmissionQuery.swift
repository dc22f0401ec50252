public import Contract

/// The states that a ledger lists submissions by; quarantined records stand on their topic alone. In the order in which
/// people need them: those that wait come first.
public enum SubmissionState: String, Hashable, Sendable, CaseIterable {
    case held
    case retrying
    case failed
    /// Another submission's grant answers it: the purchase is the user's.
    case repeated
    case granted
}

/// Which submissions a list shows; members that are nil do not narrow it.
public struct SubmissionQuery: Hashable, Sendable {
    public var state: SubmissionState
    public var bundleID: BundleID?
    public var userID: UserID?
    public var submissionID: SubmissionID?
    public var orderID: OrderID?
    /// The transaction of a grant, also the original one where that makes the grant key. Of other submissions the
    /// transaction that they are about, or claim.
    public var transactionID: TransactionID?
    /// The reason of a failure, or why a submission is retrying or held. Others have none.
    public var cause: String?
    /// The endpoint by service and environment, whatever its key. Only those that are retrying wait for one.
    public var endpoint: Endpoint?
    /// Continues behind the last row of the page before.
    public var before: Int64?
    /// The earliest place of a row.
    public var from: Int64?
    public var limit: Int

    public init(
        state: SubmissionState, bundleID: BundleID? = nil, userID: UserID? = nil, submissionID: SubmissionID? = nil,
        orderID: OrderID? = nil, transactionID: TransactionID? = nil, cause: String? = nil, endpoint: Endpoint? = nil,
        before: Int64? = nil, limit: Int = 100
    ) {
        self.state = state
        self.bundleID = bundleID
        self.userID = userID
        self.submissionID = submissionID
        self.orderID = orderID
        self.transactionID = transactionID
        self.cause = cause
        self.endpoint = endpoint
        self.before = before
        self.limit = limit
    }

    /// Whether it asks submissions for what they do not have: an endpoint unless they are retrying, or a cause although
    /// they have the purchase.
    public var excludesAll: Bool {
        endpoint != nil && state != .retrying || cause != nil && (state == .granted || state == .repeated)
    }

    /// Whether it is narrowed by an id that few rows have.
    public var namesAnID: Bool { userID != nil || submissionID != nil || orderID != nil || transactionID != nil }

    /// The grants that a list of those granted has; nil for none.
    public var grants: GrantQuery? {
        guard cause == nil else { return nil }
        var grants = GrantQuery(
            bundleID: bundleID, userID: userID, orderID: orderID, transactionID: transactionID,
            submissionID: submissionID, before: before, limit: limit)
        grants.from = from
        return grants
    }
}

extension SubmissionState {
    /// Whether its submissions stand in `retries`.
    public var isWaiting: Bool { self == .held || self == .retrying }
}

extension LedgerOperator {
    /// The submissions of one list, newest first.
    public func submissions(_ query: SubmissionQuery) throws(LedgerError) -> [SubmissionRow] {
        try submissions([query]).first ?? []
    }
}

/// A row of `grants`, `answers` or `retries` as a list shows it. A submission that was granted several purchases has
/// one for each. Evidence is not read.
public struct SubmissionRow: Hashable, Sendable {
    /// Its sequence number among the submissions of its state; higher is newer.
    public var sequence: Int64
    public let state: SubmissionState
    public let claimant: Claimant
    public let origin: Origin
    /// Nil for answers, which do not keep it.
    public let receivedAt: Timestamp?
    /// Granted, failed or repeated then; nil while it waits.
    public let decidedAt: Timestamp?
    /// The reason of a failure, or why it is retrying or held.
    public let cause: String?
    /// One sentence about the cause; nil for a granted or repeated submission.
    public let detail: String?
    /// The transaction of the grant, also of an answering one. Of other submissions the transaction that they are
    /// about, or claim.
    public let transactionID: TransactionID?
    /// A grant's.
    public let originalTransactionID: TransactionID?
    /// Of the grant, also of an answering one; of a submission that waits as it claims it. Failures have none.
    public let environment: Environment?
    public let productID: ProductID?
    public let attempts: Int
    /// When it is tried next, or when a worker's lease ends, by the ledger's clock; nil unless it waits.
    public let dueAt: Timestamp?
    /// Whether a worker is at it.
    public let isLeased: Bool
    /// Whether Apple's signature on the evidence holds. Of a submission that waits; others do not say it.
    public let isSigned: Bool
    /// Purchases left out beside those that it was granted.
    public let passedOver: PassedOver?
    /// Whether another system granted it, before this one came into use.
    public let isImported: Bool
    /// All rows of the outbox that may be about it.
    public let owable: [OutboxKey]

    public init(
        sequence: Int64, state: SubmissionState, claimant: Claimant, origin: Origin, receivedAt: Timestamp? = nil,
        decidedAt: Timestamp? = nil, cause: String? = nil, detail: String? = nil, transactionID: TransactionID?,
        originalTransactionID: TransactionID? = nil, environment: Environment? = nil, productID: ProductID?,
        attempts: Int, dueAt: Timestamp? = nil, isLeased: Bool = false, isSigned: Bool = false,
        passedOver: PassedOver? = nil, isImported: Bool = false, owable: [OutboxKey] = []
    ) {
        self.sequence = sequence
        self.state = state
        self.claimant = claimant
        self.origin = origin
        self.receivedAt = receivedAt
        self.decidedAt = decidedAt
        self.cause = cause
        self.detail = detail
        self.transactionID = transactionID
        self.originalTransactionID = originalTransactionID
        self.environment = environment
        self.productID = productID
        self.attempts = attempts
        self.dueAt = dueAt
        self.isLeased = isLeased
        self.isSigned = isSigned
        self.passedOver = passedOver
        self.isImported = isImported
        self.owable = owable
    }
}

extension SubmissionRow {
    /// A granted submission, by one of its grants.
    public init(_ row: GrantRow) {
        let grant = row.grant
        self.init(
            sequence: row.sequence, state: .granted, claimant: grant.claimant, origin: grant.origin,
            receivedAt: grant.receivedAt, decidedAt: grant.grantedAt, transactionID: grant.transactionID,
            originalTransactionID: grant.originalTransactionID, environment: grant.environment,
            productID: grant.productID, attempts: grant.attempts, passedOver: grant.passedOver,
            isImported: grant.isImported,
            owable: OutboxKey.telling(of: grant.reference, to: grant.submissionID))
    }
}
