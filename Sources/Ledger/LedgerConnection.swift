public import Contract

/// Why a call to a ledger has no result. Calls may be repeated after each of them: a write that was done already finds
/// its own rows.
public enum LedgerError: Error, Hashable, Sendable {
    /// The database is away, locked or slow; it is not known whether a write was done. Try again.
    case unavailable(detail: String)
    /// The connection is gone: it is not known whether writes of the past were kept. Take every partition over anew.
    case disconnected(detail: String)
    /// The database is not a ledger of this version, or its content contradicts itself. A person must look; end with
    /// 78.
    case unusable(detail: String)

    /// The fault, for people.
    public var detail: String {
        switch self {
        case .unavailable(let detail), .disconnected(let detail), .unusable(let detail): detail
        }
    }
}

/// One connection to a ledger, used by one thread at a time and born on it.
///
/// A worker has two: one writes decisions, the other does all else. Every method is one transaction; none of them waits
/// longer than the driver's limits.
public protocol LedgerConnection: AnyObject {
    func identity() throws(LedgerError) -> String

    /// Makes the ledger a group's, if it has no group yet.
    /// - Returns: The group that it belongs to. A worker of another group must not work with it, see
    ///   ``ConsumerGroup/refusal(of:owner:)``.
    func bind(to group: ConsumerGroup) throws(LedgerError) -> ConsumerGroup

    /// How many milliseconds the ledger's clock was ahead of this host's at the latest call; 0 before the first, and
    /// where they are one.
    var clockLead: Int64 { get }

    /// Takes partitions over; one result per request, in order. Waits for a write of the old owner that is under way.
    func takeOver(_ requests: [TakeOver]) throws(LedgerError) -> [TakeOverResult]

    /// The outcomes of records by their origins.
    func knownOutcomes(of origins: [Origin]) throws(LedgerError) -> [KnownOutcome]

    /// Writes how far partitions are complete, also where that is less than before. True for each that still belongs to
    /// its generation.
    func checkpoint(_ checkpoints: [OffsetCheckpoint]) throws(LedgerError) -> [Bool]

    /// Writes which checks have ended and which begin, at most one per partition. True for each mark whose generation
    /// is still the partition's. A take-over that finds an unfinished check counts it against the record, see
    /// ``PartitionStart/suspect``. The end of a check, or a later checkpoint, resets the count.
    func mark(_ marks: [CheckMark]) throws(LedgerError) -> [Bool]

    /// Writes a batch in which each grant key, transaction, submission and claim stands once; one result per decision,
    /// in order.
    func write(_ batch: [Decision]) throws(LedgerError) -> [DecisionResult]

    /// For each question the grant that answers it; nil where there is none.
    func lookUp(_ questions: [GrantLookup]) throws(LedgerError) -> [GrantReference?]

    /// Leases due rows of `retries`, at most so many bytes of claims and evidence (the row that reaches the limit is
    /// still taken). A suspect row comes alone and before all others, whatever was asked for, see ``DueRetry/takings``.
    /// A row that is held for ending workers does not come before a person makes it due.
    func takeDue(_ requests: [DueRequest], bytes: Int) throws(LedgerError) -> [DueRetry]

    /// Renews leases for another minute, and writes how often their rows count as taken. False for each that has ended,
    /// or is another's now.
    func renew(_ renewals: [LeaseRenewal]) throws(LedgerError) -> [Bool]

    /// Ends leases, so that another worker may take the rows at once; their rows have ended no worker.
    func giveBack(retries: [RetryLease], outbox: [OutboxLease]) throws(LedgerError)

    /// Adds owed events, under their ownership. False for each of an old generation, and for the event of a failure
    /// that is gone, such as for its age. Then the record is to be read and decided again.
    func owe(_ entries: [OutboxEntry]) throws(LedgerError) -> [Bool]

    /// Leases due rows of the outbox. A row that this version cannot render counts as tried, and is due again in a
    /// minute. Its age in the metrics shows it.
    func takeOutbox(_ requests: [OutboxRequest]) throws(LedgerError) -> [OutboxItem]

    /// Writes down what became of leased rows; reports under an ended lease change nothing.
    func report(_ reports: [OutboxReport]) throws(LedgerError)

    /// Measures the waiting rows, and takes a worker's sign of life. Rows that are due later than
    /// ``longestDelayMilliseconds`` from now, because a clock was ahead, are due by then.
    func measure(as worker: WorkerSign) throws(LedgerError) -> LedgerMeasure

    /// Forgets a worker's sign of life: it counts no more, until it gives another.
    func signOff(_ worker: WorkerSign) throws(LedgerError)
}

public enum LedgerID {
    /// The id of a new ledger: 128 random bits as hexadecimal digits.
    public static func random() -> String {
        var generator = SystemRandomNumberGenerator()
        return [generator.next(), generator.next()].map { (word: UInt64) in
            let digits = String(word, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}

/// How much waits in a ledger, sampled every ten seconds.
public struct LedgerMeasure: Hashable, Sendable {
    public struct App: Hashable, Sendable {
        public let bundleID: BundleID
        public let rows: Int
        public let bytes: Int64

        public init(bundleID: BundleID, rows: Int, bytes: Int64) {
            self.bundleID = bundleID
            self.rows = rows
            self.bytes = bytes
        }
    }

    public struct Waiting: Hashable, Sendable {
        /// Nil for held rows, and for endpoints that only a later version knows.
        public let endpoint: Endpoint?
        public let rows: Int
        /// When the record of the oldest row came. A driver may take the row that was written first.
        public let oldest: Timestamp?

        public init(endpoint: Endpoint?, rows: Int, oldest: Timestamp? = nil) {
            self.endpoint = endpoint
            self.rows = rows
            self.oldest = oldest
        }
    }

    /// Held rows of one app that wait for the same.
    public struct Held: Hashable, Sendable {
        /// Most details of a group.
        public static let maxDetails = 4

        public let group: HeldGroup
        public let rows: Int
        /// Their details, those of most rows first.
        public let details: [String]
        /// As that of ``Waiting``.
        public let oldest: Timestamp?

        /// - Parameter details: Each with the number of its rows.
        public init(_ bundleID: BundleID, _ cause: HoldCause, details: [String: Int], oldest: Timestamp? = nil) {
            let ordered = details.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            self.init(
                bundleID, cause, rows: details.values.reduce(0, +), ordered.prefix(Self.maxDetails).map(\.key),
                oldest: oldest)
        }

        public init(
            _ bundleID: BundleID, _ cause: HoldCause, rows: Int, _ details: [String], oldest: Timestamp? = nil
        ) {
            group = HeldGroup(bundleID: bundleID, cause: cause)
            self.rows = rows
            self.details = details
            self.oldest = oldest
        }
    }

    /// Grants of one app that its fulfilment service has not said yes to.
    public struct Calls: Hashable, Sendable {
        public let bundleID: BundleID
        public let rows: Int
        /// The refused ones, by the service's latest answers.
        public let refused: Int
        /// When the oldest of the others was granted; nil where all are refused. A refused call needs a person, and
        /// must not hide that the service is away.
        public let oldest: Timestamp?

        public init(bundleID: BundleID, rows: Int, refused: Int, oldest: Timestamp?) {
            self.bundleID = bundleID
            self.rows = rows
            self.refused = refused
            self.oldest = oldest
        }

        /// Calls of one target as a driver counts them; nil where that is no service.
        /// - Parameter oldest: milliseconds since 1970.
        public init?(of target: OutboxTarget, rows: Int, refused: Int, oldest: Int64?) {
            guard case .service(let bundleID) = target else { return nil }
            self.init(
                bundleID: bundleID, rows: rows, refused: refused,
                oldest: oldest.map { Timestamp(milliseconds: $0) })
        }
    }

    /// Rows of `retries` by app, ordered by bundle id.
    public let retries: [App]
    /// Rows of `retries` by endpoint, in order. Rows may wait for an endpoint that no app of the configuration has any
    /// more.
    public let waiting: [Waiting]
    /// Held rows, ordered by bundle id and cause.
    public let held: [Held]
    /// Workers that have given a sign within ``WorkerSign/mostSilence``, the asking one included.
    public var workers: Int
    /// When it was taken, by the ledger's clock. Workers may share a sample.
    public var takenAt: Timestamp
    /// Owed fulfilment calls by app, ordered by bundle id.
    public let calls: [Calls]
    /// All rows of the outbox, calls included.
    public let outboxRows: Int
    /// How many milliseconds ago the oldest event of the outbox was first due; 0 if none is.
    public let outboxAge: Int64
    /// Rows of `retries` and the outbox that only a later version can work on: their time does not come here.
    public let later: Int

    public init(
        retries: [App], waiting: [Waiting], held: [Held] = [], calls: [Calls] = [], outboxRows: Int, outboxAge: Int64,
        later: Int = 0, workers: Int = 1, takenAt: Timestamp = Timestamp(milliseconds: 0)
    ) {
        self.calls = calls
        self.workers = workers
        self.takenAt = takenAt
        self.later = later
        self.held = held
        self.retries = retries
        self.waiting = waiting
        self.outboxRows = outboxRows
        self.outboxAge = outboxAge
    }
}

/// An app and the cause that its submissions are held for.
public struct HeldGroup: Hashable, Sendable {
    public let bundleID: BundleID
    public let cause: HoldCause

    public init(bundleID: BundleID, cause: HoldCause) {
        self.bundleID = bundleID
        self.cause = cause
    }
}
