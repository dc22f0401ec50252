public import Purchases

/// Which submissions an operator asks for; nil members do not narrow.
public struct SubmissionFilter: Hashable, Sendable {
    public var outcome: RecordedOutcome?
    /// Why it failed or waits, in one word.
    public var reason: String?
    /// The transaction that it was granted, failed for, or waits for.
    public var transactionID: TransactionID?
    /// Received at this moment or before.
    public var receivedUntil: Timestamp?
    public var bundleID: BundleID?
    public var submissionID: SubmissionID?
    public var userID: UserID?
    public var orderID: OrderID?

    /// A filter that lets everything through until members are set.
    public init(
        outcome: RecordedOutcome? = nil, bundleID: BundleID? = nil, submissionID: SubmissionID? = nil,
        userID: UserID? = nil, orderID: OrderID? = nil, reason: String? = nil, transactionID: TransactionID? = nil,
        receivedUntil: Timestamp? = nil
    ) {
        self.outcome = outcome
        self.reason = reason
        self.transactionID = transactionID
        self.receivedUntil = receivedUntil
        self.bundleID = bundleID
        self.submissionID = submissionID
        self.userID = userID
        self.orderID = orderID
    }
}

/// A submission as an operator sees it.
public struct SubmissionRow: Hashable, Sendable {
    /// Place in the ledger's order; pages continue after it.
    public let sequence: Int64
    public let claimant: Claimant
    public let outcome: RecordedOutcome
    /// Failure reason or hold cause; nil for a granted one.
    public let reason: String?
    public let detail: String?
    public let origin: Origin
    public let receivedAt: Timestamp
    public let settledAt: Timestamp
    public let attempts: Int
    /// The tries that decided nothing.
    public let history: AttemptHistory
    /// When it is tried next, or until when it is being tried; nil if nothing will try it by itself.
    public let dueAt: Timestamp?
    /// The transaction that it claims or was refused for, where one is known; nil for a granted one, whose grants tell.
    public let transactionID: TransactionID?
    /// The events that answer it.
    public let eventIDs: [EventID]

    /// A row of the ledger.
    public init(
        sequence: Int64, claimant: Claimant, outcome: RecordedOutcome, reason: String?, detail: String?,
        origin: Origin, receivedAt: Timestamp, settledAt: Timestamp, attempts: Int,
        history: AttemptHistory = AttemptHistory(), dueAt: Timestamp? = nil,
        transactionID: TransactionID? = nil, eventIDs: [EventID]
    ) {
        self.sequence = sequence
        self.claimant = claimant
        self.outcome = outcome
        self.reason = reason
        self.detail = detail
        self.origin = origin
        self.receivedAt = receivedAt
        self.settledAt = settledAt
        self.attempts = attempts
        self.history = history
        self.dueAt = dueAt
        self.transactionID = transactionID
        self.eventIDs = eventIDs
    }
}

/// Which grants an operator asks for; nil members do not narrow.
public struct GrantFilter: Hashable, Sendable {
    public var grantID: GrantID?
    /// Matches the transaction id or the original transaction id.
    public var transactionID: TransactionID?
    public var userID: UserID?
    public var bundleID: BundleID?

    /// A filter that lets everything through until members are set.
    public init(
        grantID: GrantID? = nil, transactionID: TransactionID? = nil, userID: UserID? = nil, bundleID: BundleID? = nil
    ) {
        self.grantID = grantID
        self.transactionID = transactionID
        self.userID = userID
        self.bundleID = bundleID
    }
}

/// A grant as an operator sees it.
public struct GrantRow: Hashable, Sendable {
    /// Place in the ledger's order; pages continue after it.
    public let sequence: Int64
    public let grantID: GrantID
    /// What makes it unique.
    public let key: String
    public let claimant: Claimant
    public let granted: GrantablePurchase
    public let verifiedBy: VerifiedBy
    public let grantedAt: Timestamp
    public let eventID: EventID

    /// A row of the ledger.
    public init(
        sequence: Int64, grantID: GrantID, key: String, claimant: Claimant, granted: GrantablePurchase,
        verifiedBy: VerifiedBy, grantedAt: Timestamp, eventID: EventID
    ) {
        self.sequence = sequence
        self.grantID = grantID
        self.key = key
        self.claimant = claimant
        self.granted = granted
        self.verifiedBy = verifiedBy
        self.grantedAt = grantedAt
        self.eventID = eventID
    }
}

/// How far an event has got.
public struct EventRow: Hashable, Sendable {
    public let sequence: Int64
    public let event: Event
    /// When the broker had acknowledged it, to the second in which it was published first; nil while it has not.
    public let publishedAt: Timestamp?

    /// An event of the outbox.
    public init(sequence: Int64, event: Event, publishedAt: Timestamp?) {
        self.sequence = sequence
        self.event = event
        self.publishedAt = publishedAt
    }
}

/// How many rows of each kind the ledger holds.
public struct LedgerCounts: Hashable, Sendable {
    public var submissions: [RecordedOutcome: Int]
    public var failures: [FailureReason: Int]
    public var grants: Int
    public var quarantined: Int
    /// Entries of the outbox that Kafka has not taken, copies included.
    public var unpublished: Int
    /// Grants that an inventory service still has to be told of; their events are not in the outbox yet.
    public var openDeliveries: Int

    /// Counts as of one moment.
    public init(
        submissions: [RecordedOutcome: Int], failures: [FailureReason: Int], grants: Int, quarantined: Int,
        unpublished: Int, openDeliveries: Int = 0
    ) {
        self.submissions = submissions
        self.failures = failures
        self.grants = grants
        self.quarantined = quarantined
        self.unpublished = unpublished
        self.openDeliveries = openDeliveries
    }
}

/// What operator commands and audits ask of a ledger. Reads only; works while a worker writes.
public protocol LedgerReader: Sendable {
    /// Newest first; `before` continues after the last row of the page before.
    func submissions(
        _ filter: SubmissionFilter, before: Int64?, limit: Int
    ) async throws(LedgerError) -> [SubmissionRow]

    /// Newest first; `before` continues after the last row of the page before.
    func grants(_ filter: GrantFilter, before: Int64?, limit: Int) async throws(LedgerError) -> [GrantRow]

    /// The events with these ids, those that exist, in ledger order.
    func events(_ ids: [EventID]) async throws(LedgerError) -> [EventRow]

    /// All events in ledger order after a sequence, each once.
    func events(after sequence: Int64, limit: Int) async throws(LedgerError) -> [EventRow]

    /// How many rows of each kind there are.
    func counts() async throws(LedgerError) -> LedgerCounts

    /// The deliveries of these grants' events, open or done, in ledger order. Others' events are published at once.
    func deliveries(_ events: [EventID]) async throws(LedgerError) -> [DeliveryRow]

    /// How a waiting submission stands; nil if it does not wait, or waits without a next try.
    func waiting(_ key: SubmissionKey) async throws(LedgerError) -> WaitingState?

    /// What people did to a submission, in order.
    func actions(on key: SubmissionKey) async throws(LedgerError) -> [OperatorAction]

    /// How far the outbox is published.
    func relay() async throws(LedgerError) -> RelayState

    /// All rows as they are at this moment, for as long as the snapshot is held.
    func snapshot() async throws(LedgerError) -> any LedgerSnapshot
}
