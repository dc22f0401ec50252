public import Contract
public import Ledger
public import Scheduling

/// The drivers' work after a turn: one buffer per driver, reused from turn to turn.
///
/// The runner posts each buffer that is not empty to its driver and calls ``removeAll()``. It decides nothing.
public struct Actions: ~Copyable {
    // MARK: Consumer

    /// Ask the broker for the group's committed offsets; answered by ``Input/committed(_:)``.
    public var fetchCommitted: [TopicPartition] = []
    /// Begin to read, from where each says.
    public var assign: [Assignment] = []
    /// Stop reading these; they may be assigned again at once.
    public var unassign: [TopicPartition] = []
    /// Commit to the group. Unanswered: the ledger's offsets are what counts.
    public var commit: [CommittedOffset] = []
    /// How much may be delivered, if that has changed.
    public var demand: Demand?

    // MARK: Checkers and HTTP

    /// In order; the driver cuts them into chunks.
    public var checks: [CheckTask] = []
    /// Questions to Apple that may be asked now.
    public var attempts: [AttemptTask] = []
    /// Fulfilment calls that may be made now.
    public var calls: [CallTask] = []

    // MARK: Ledger

    /// For the connection that writes; at most one batch is under way.
    public var writes: [WriteBatch] = []
    /// For the other connection, which takes them one after the other.
    public var requests: [LedgerRequest] = []

    // MARK: Producer and lifecycle

    public var publishes: [PublishTask] = []
    /// Alerts for operators: logged, and counted in metrics.
    public var alerts: [Alert] = []
    /// Run a turn at this instant even if no input comes; nil if only an input can change something.
    public var wakeAt: Instant?
    /// The core is done, and has nothing under way that matters. No further turn is needed.
    public var stop: StopReason?

    public init() {}

    /// Empties the buffers and keeps their memory.
    public mutating func removeAll() {
        Self.clear(&fetchCommitted)
        Self.clear(&assign)
        Self.clear(&unassign)
        Self.clear(&commit)
        demand = nil
        Self.clear(&checks)
        Self.clear(&attempts)
        Self.clear(&calls)
        Self.clear(&writes)
        Self.clear(&requests)
        Self.clear(&publishes)
        Self.clear(&alerts)
        wakeAt = nil
        stop = nil
    }

    /// Most buffers are empty, and a look is cheaper than a call.
    private static func clear<Element>(_ buffer: inout [Element]) {
        if !buffer.isEmpty { buffer.removeAll(keepingCapacity: true) }
    }
}

/// Where to begin to read a partition.
public struct Assignment: Hashable, Sendable {
    public let id: AssignmentID
    public let partition: TopicPartition
    /// The offset; nil for the oldest record.
    public let start: Int64?
    /// The first offset that nobody has read, where reading begins at the oldest record; nil if it is not known.
    public let expected: Int64?
}

/// How much the consumer may deliver, counted since the worker started: it delivers while both totals are below.
///
/// Totals, so that a demand that comes late or twice changes nothing. The batch that reaches a total may go beyond it
/// by its last record.
public struct Demand: Hashable, Sendable {
    public var records: Int64 = 0
    public var bytes: Int64 = 0
}

/// A batch of decisions in which each grant key, transaction, submission and claim stands once.
public struct WriteBatch: Sendable {
    public let id: BatchID
    public let decisions: [Decision]
}

/// An event to be produced.
public struct PublishTask: Sendable {
    public let token: PublishToken
    public let event: Event
}

/// A grant to call an app's fulfilment service for.
public struct CallTask: Sendable {
    public let token: OutboxToken
    public let grant: Grant
    /// The apps file as of now.
    public let apps: AppsSnapshot
}

/// Why the core is done.
public enum StopReason: Hashable, Sendable {
    /// A stop was ordered. The next owners of the partitions read incomplete records again.
    case clean
    /// The ledger knows nothing of a partition whose offsets the group has committed. Exit with 78, until an operator
    /// accepts this ledger by its id.
    case forgotten(ledger: String)
    /// The ledger cannot be used: exit with 78.
    case unusable(detail: String)
}

/// An event that operators should know. Trouble that lasts is logged every ten minutes, and once when it is over.
public enum Alert: Hashable, Sendable {
    /// - Parameter fault: the words of the latest failed call; nil if replies only took too long.
    case breakerOpened(Endpoint, fault: String?)
    /// Repeated while it lasts, with the rows that wait in `retries` for it.
    case breakerStillOpen(Endpoint, after: Duration, waiting: Int)
    case breakerClosed(Endpoint, after: Duration, waited: Int)
    case calls(CallAlert)
    /// Rows that were in `retries` when the worker started, and those of them that need a person.
    ///
    /// - `oldest`: how long ago the record of the oldest held one came; nil where that is not known.
    case waitingAtStart(Int, held: Int, oldest: Duration?)
    /// Submissions are held, with the details of most of them. Submissions from before the start count as lasting.
    case held(HeldGroup, rows: Int, details: [String])
    case heldOver(HeldGroup, after: Duration)
    /// Rows of the ledger wait that only a later version can work on.
    case laterVersion(rows: Int)
    case laterVersionOver(after: Duration)
    /// Records went to the quarantine topic since the last time of telling, with the first of them.
    case quarantined(QuarantineReason.Kind, records: Int, example: Origin)
    /// Since the last such alert, paid purchases of a product were left out beside granted ones for this reason. The
    /// example is the first submission.
    case passedOver(BundleID, ProductID, PassedOver.Reason, purchases: Int, example: SubmissionID)
    /// Since the last such alert, submissions wait because Apple signed their evidence ahead of this host's clock; with
    /// the first of them.
    case signedAhead(submissions: Int, example: SubmissionID)
    /// Submissions failed since the last time of telling, because the apps file lacks their app.
    case appMissing(BundleID, submissions: Int, example: SubmissionID)
    /// Half of the bytes that may wait in `retries` do.
    case retriesHalfFull(bytes: Int64, limit: Int64)
    /// So many bytes wait in `retries` that nothing is read any more.
    case retriesFull(bytes: Int64, limit: Int64)
    case retriesHaveRoom(after: Duration)
    /// The broker does not take a topic's events, for this cause.
    case eventsNotTaken(Topic, cause: String)
    /// The broker takes a topic's events, and has refused none for a minute.
    case eventsTaken(Topic, after: Duration)
    /// 100,000 rows are owed in the outbox: outcomes wait for the broker.
    case outboxFull
    case outboxHasRoom(after: Duration)
    /// The ledger's offset is smaller than this worker's checkpoint. It was set back, and the topic is read again from
    /// there.
    case ledgerSetBack(TopicPartition, checkpoint: Int64, found: Int64?)
    case ledgerUnavailable(detail: String)
    case ledgerAvailable(after: Duration)
    /// Another worker writes for a partition that the group has given to this one.
    case ownershipLost(TopicPartition)
    /// The ledger refuses a decision for its data; the submission is held.
    case decisionRefused(Origin, detail: String)
    /// A record whose check ended its worker is on the quarantine topic.
    case recordEndsWorkers(Origin)
    /// A row of `retries` whose check ended worker after worker is held for a person.
    case rowEndsWorkers(Origin)
}

/// News of an app's fulfilment calls that are late or refused, and of the end of that.
public enum CallAlert: Hashable, Sendable {
    /// An app's fulfilment service is not called for now. Its grants stay owed; nothing else waits for it.
    /// - Parameter fault: the words of the latest failed call; nil if replies only took too long.
    case serviceAway(BundleID, fault: String?)
    /// Repeated while it lasts, with the grants that wait for it.
    case serviceStillAway(BundleID, after: Duration, waiting: Int)
    case serviceAnswers(BundleID, after: Duration, waited: Int)
    /// Some calls to an app's service fail, and too few for it to be away: grants wait for minutes.
    /// - Parameters:
    ///   - rows: without refused ones.
    ///   - fault: the words of the latest failed call.
    case callsOverdue(BundleID, rows: Int, age: Duration, fault: String)
    case callsOverdueOver(BundleID, after: Duration)
    /// An app's service answers, and does not take some grants.
    case grantsRefused(BundleID, rows: Int)
    case grantsRefusedOver(BundleID, after: Duration)
    /// Grants wait for a service that the apps file does not name any more.
    case serviceMissing(BundleID, rows: Int)
    case serviceMissingOver(BundleID, after: Duration)
}
