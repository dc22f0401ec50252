public import Contract

/// The digest of a claim: primary key of `retries`, 32 bytes.
public typealias RetryKey = ClaimDigest

/// How long a lease lasts, in milliseconds of the ledger's clock. A worker renews its leases together, in time for
/// three tries.
public let leaseMilliseconds: Int64 = 60_000

/// The longest time from the ledger's now until a row of `retries` is due, in milliseconds. A row with a later moment
/// is looked at again in between, so that a clock that was ahead costs no more than this.
public let longestDelayMilliseconds: Int64 = 3_600_000

/// A row of `retries` that one worker has until a moment of the ledger's clock.
public struct RetryLease: Hashable, Sendable {
    public let key: RetryKey
    /// Higher than every number that this ledger gave before. So a row that was deleted and came again has no lease of
    /// its past. A result under another number is dropped. A lease that ended counts until another worker takes the
    /// row.
    public let number: Int64

    public init(key: RetryKey, number: Int64) {
        self.key = key
        self.number = number
    }
}

/// A worker's word that it still works on a row.
public struct LeaseRenewal: Hashable, Sendable {
    public let lease: RetryLease
    /// How often the row counts as taken without a result from now on, see ``DueRetry/takings``. This time counts while
    /// its check runs, which may end the worker.
    public let takings: Int

    public init(_ lease: RetryLease, takings: Int) {
        self.lease = lease
        self.takings = takings
    }
}

/// A "no" of Apple's that may not be its last word. The clock runs only between doubting replies. An outage, a hold of
/// ours and the time before the first such reply do not count.
public struct Doubt: Hashable, Sendable {
    public let replies: Int
    /// Milliseconds that the clock has run.
    public let elapsed: Int64
    /// When the latest doubting reply came; nil while something else came since, so that the clock stands.
    public let runningSince: Timestamp?

    public init(replies: Int, elapsed: Int64, runningSince: Timestamp?) {
        self.replies = replies
        self.elapsed = elapsed
        self.runningSince = runningSince
    }
}

/// Why a submission waits in `retries`.
public enum WaitCause: Hashable, Sendable {
    /// Apple cannot tell yet, or cannot be asked; tried again through this endpoint.
    case retrying(RetryCause, Endpoint)
    /// Our configuration or a person must decide; its row has no endpoint.
    case held(HoldCause)
}

extension WaitCause {
    public var state: PendingSubmission.State {
        switch self {
        case .retrying: .retrying
        case .held: .held
        }
    }
}

extension PendingSubmission {
    /// A row of `retries`, as its pending event needs it.
    /// - Parameter latest: The end of the latest attempt; nil if none was counted.
    public init(
        _ claimant: Claimant, _ state: State, cause: String, attempts: Int, receivedAt: Timestamp, latest: Timestamp?,
        dueAt: Timestamp
    ) {
        self.init(
            claimant: claimant, state: state, cause: cause, attempts: attempts, receivedAt: receivedAt,
            at: latest ?? receivedAt, nextTryAt: dueAt)
    }
}

/// The part of a row of `retries` that a redelivery of its record, and its event, need. Any version can read it.
public struct WaitingRow: Hashable, Sendable {
    public let key: RetryKey
    public let origin: Origin
    public let pending: PendingSubmission
    /// Its submission has an answer already, by another record. It gets no pending event.
    public private(set) var isAnswered = false

    public init(key: RetryKey, origin: Origin, pending: PendingSubmission) {
        self.key = key
        self.origin = origin
        self.pending = pending
    }

    /// Rows that know whether they are answered.
    /// - Parameters:
    ///   - grants: The rows of `grants` of their submissions, in any order.
    ///   - answers: The rows of `answers`.
    public static func judged(_ rows: [WaitingRow], grants: FoundGrants, answers: FoundAnswers) -> [WaitingRow] {
        var answered: Set<OwnClaim> = []
        for stored in grants.known { answered.insert(OwnClaim(stored.grant.claimant)) }
        for answer in answers.known { answered.insert(OwnClaim(answer.claimant)) }
        for row in grants.later + answers.later { answered.insert(OwnClaim(row.claimant)) }
        return rows.map { row in
            var row = row
            row.isAnswered = answered.contains(OwnClaim(row.pending.claimant))
            return row
        }
    }
}

/// The values of a row of `retries` besides the submission.
public struct RetryEntry: Hashable, Sendable {
    public let cause: WaitCause
    /// One sentence for people, without evidence or secrets.
    public let detail: String
    /// Milliseconds from the ledger's now until it is due.
    public let delay: Int64
    public let history: AttemptHistory
    public let doubt: Doubt?
    /// Whether Apple's signature on the evidence holds: such rows are taken before what anybody can make up. It is
    /// written with a new row, and never changes.
    public var isSigned: Bool
    /// All purchases that the submission claims, if all of them are known by names. For the decision alone: no ledger
    /// keeps it.
    public let purchases: [NamedPurchase]

    public init(
        cause: WaitCause, detail: String, delay: Int64, history: AttemptHistory, doubt: Doubt?, isSigned: Bool,
        purchases: [NamedPurchase]
    ) {
        self.cause = cause
        self.detail = detail
        self.delay = delay
        self.history = history
        self.doubt = doubt
        self.isSigned = isSigned
        self.purchases = purchases
    }
}

/// Which due rows a worker takes: signed ones first, then by their due time.
public struct DueRequest: Hashable, Sendable {
    /// Rows of this endpoint; nil for held ones, which have none.
    public let endpoint: Endpoint?
    public let limit: Int
    /// Whether rows are taken whose due time has not come: the endpoint's circuit breaker has closed.
    public let beforeDue: Bool

    public init(endpoint: Endpoint?, limit: Int, beforeDue: Bool = false) {
        self.endpoint = endpoint
        self.limit = limit
        self.beforeDue = beforeDue
    }
}

/// A row of `retries` that was due and is this worker's under a lease.
public struct DueRetry: Hashable, Sendable {
    /// From so many takings without a result on, its check may be what ends workers.
    public static let takingsOfSuspicion = 3

    public let lease: RetryLease
    public let submission: Submission
    public let attempts: Int
    public let cause: WaitCause
    public let history: AttemptHistory
    public let doubt: Doubt?
    /// How often it was taken since a worker had a result of it, this time included, without the times that renewals
    /// took back.
    public let takings: Int

    public init(
        lease: RetryLease, submission: Submission, attempts: Int, cause: WaitCause, history: AttemptHistory,
        doubt: Doubt?, takings: Int
    ) {
        self.lease = lease
        self.submission = submission
        self.attempts = attempts
        self.cause = cause
        self.history = history
        self.doubt = doubt
        self.takings = takings
    }

    public var isSuspect: Bool { takings >= Self.takingsOfSuspicion }
}
