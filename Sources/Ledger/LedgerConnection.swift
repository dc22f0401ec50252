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
    /// The ledger's ``LedgerID``.
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
