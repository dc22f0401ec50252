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

/// A grant to tell an app's fulfilment service.
public struct CallTask: Sendable {
    public let token: OutboxToken
    public let grant: Grant
    /// Calls for it so far.
    public let attempts: Int
}

/// Why the core is done.
public enum StopReason: Hashable, Sendable {
    /// It was told to stop. The next owners of the partitions read incomplete records again.
    case clean
    /// The ledger knows nothing of a partition whose offsets the group has committed: exit with 78 until an operator
    /// accepts this ledger by its id.
    case forgotten(ledger: String)
    /// The ledger cannot be used: exit with 78.
    case unusable(detail: String)
}

/// An event that operators should know.
public enum Alert: Hashable, Sendable {
    /// - Parameter fault: the words of the latest failed call; nil if answers only took too long.
    case breakerOpened(Endpoint, fault: String?)
    /// Told again and again while it lasts, with the rows that wait in `retries` for it.
    case breakerStillOpen(Endpoint, after: Duration, waiting: Int)
    case breakerClosed(Endpoint, after: Duration, waited: Int)
    /// Rows that were in `retries` when the worker started.
    case waitingAtStart(Int)
    /// Submissions are held; told again and again while it lasts, with the details of most of them.
    case held(HeldGroup, rows: Int, details: [String])
    /// Rows of the ledger wait that only a later version can work on; told again and again while it lasts.
    case laterVersion(rows: Int)
    /// Half of the bytes that may wait in `retries` do.
    case retriesHalfFull(bytes: Int64, limit: Int64)
    /// So many bytes wait in `retries` that nothing is read any more.
    case retriesFull(bytes: Int64, limit: Int64)
    /// The broker does not take a topic's events; told once per cause until it takes one.
    case eventsNotTaken(Topic, cause: String)
    /// 100,000 rows are owed in the outbox: outcomes wait for the broker.
    case outboxFull
    /// The ledger's offset is smaller than this worker noted. It was set back, and the topic is read again from there.
    case ledgerSetBack(TopicPartition, noted: Int64, found: Int64?)
    case ledgerUnavailable(detail: String)
    case ledgerAnswersAgain(after: Duration)
    /// Another worker writes for a partition that the group has given to this one.
    case ownershipLost(TopicPartition)
    /// The ledger refuses a decision for its data; the submission is held.
    case decisionRefused(Origin, detail: String)
    /// A record whose check ended its worker is on the quarantine topic.
    case recordEndsWorkers(Origin)
    /// A row of `retries` whose check ended worker after worker is held for a person.
    case rowEndsWorkers(Origin)
}

/// A call to the ledger's second connection: ``LedgerConnection`` has one method for each case.
public struct LedgerRequest: Sendable {
    public enum Call: Sendable {
        case takeOver([TakeOver])
        case knownOutcomes([Origin])
        case note([OffsetNote])
        case mark([CheckMark])
        case lookUp([GrantLookup])
        case takeDue([DueRequest], bytes: Int)
        case renew([LeaseRenewal])
        case giveBack(retries: [RetryLease], outbox: [OutboxLease])
        case owe([OutboxEntry])
        case takeOutbox([OutboxRequest])
        case report([OutboxReport])
        case measure(WorkerSign)
    }

    public let id: RequestID
    public let call: Call
}

/// The result of a ``LedgerRequest/Call``.
public enum LedgerAnswer: Sendable {
    case takenOver([TakeOverResult])
    case knownOutcomes([KnownOutcome])
    /// For each note, whether it still belongs to its generation.
    case noted([Bool])
    case marked([Bool])
    case lookedUp([GrantReference?])
    case due([DueRetry])
    /// For each lease, whether it is still this worker's.
    case renewed([Bool])
    /// For each entry, whether its generation still counts.
    case owed([Bool])
    case outbox([OutboxItem])
    case measured(LedgerMeasure)
    /// Of calls that return nothing.
    case done
}

extension LedgerRequest.Call {
    /// Calls the ledger's method of this case.
    public func perform(on connection: any LedgerConnection) throws(LedgerError) -> LedgerAnswer {
        switch self {
        case .takeOver(let requests): return .takenOver(try connection.takeOver(requests))
        case .knownOutcomes(let origins): return .knownOutcomes(try connection.knownOutcomes(of: origins))
        case .note(let notes): return .noted(try connection.note(notes))
        case .mark(let marks): return .marked(try connection.mark(marks))
        case .lookUp(let questions): return .lookedUp(try connection.lookUp(questions))
        case .takeDue(let requests, let bytes): return .due(try connection.takeDue(requests, bytes: bytes))
        case .renew(let renewals): return .renewed(try connection.renew(renewals))
        case .giveBack(let retries, let outbox):
            try connection.giveBack(retries: retries, outbox: outbox)
            return .done
        case .owe(let entries): return .owed(try connection.owe(entries))
        case .takeOutbox(let requests): return .outbox(try connection.takeOutbox(requests))
        case .report(let reports):
            try connection.report(reports)
            return .done
        case .measure(let worker): return .measured(try connection.measure(as: worker))
        }
    }
}

/// Work for a checker thread: parsing, signatures, claim policy.
public struct CheckTask: Sendable {
    public enum Work: Sendable {
        /// Read a record and check the evidence in it.
        ///
        /// - `known`: the outcome that the ledger has for a record at this place. If the record is of the same app,
        ///   submission and user, it is a redelivery: answer ``CheckResult/known``, and check nothing.
        case record(InputRecord, known: KnownOutcome?)
        /// A record whose check has ended its worker before: quarantine it unread.
        case quarantine(InputRecord, reason: String)
        /// Check the evidence of a row of `retries`.
        case submission(Submission)
        /// Verify Apple's signature on a receipt that is on its way to `retries`.
        ///
        /// - `mayDecide`: verifyReceipt is away, so the signature is enough where the app's rules say that.
        case signature(Submission, mayDecide: Bool)
        /// Verify the signatures in what Apple answered, and conclude.
        case answer(Submission, Question)
    }

    public let token: SubmissionToken
    public let work: Work
    /// The apps file as of now.
    public let rules: Rules
}

/// The end of a ``CheckTask``.
public struct Checked: Sendable {
    public let token: SubmissionToken
    public let result: CheckResult

    public init(token: SubmissionToken, result: CheckResult) {
        self.token = token
        self.result = result
    }
}

public enum CheckResult: Sendable {
    /// No submission can be read from the record. It goes to the quarantine topic as the event, or as the stub if the
    /// topic does not take it.
    case unreadable(Event, QuarantineStub)
    /// The record is the one that has its outcome, with what its app's rules say about copies that a repeat asks for.
    case known(RepeatPolicy)
    /// It names a submission and a user, and breaks the message contract otherwise.
    case malformed(MalformedSubmission)
    /// Of ``CheckTask/Work/record(_:known:)`` and ``CheckTask/Work/submission(_:)``.
    case submission(Submission, SubmissionRules, LocalCheck)
    /// Of ``CheckTask/Work/signature(_:mayDecide:)``: whether it holds, and the verdict where it decides.
    case signature(holds: Bool, Verdict?)
    /// Of ``CheckTask/Work/answer(_:_:)``.
    case answer(AttemptResult)
}

/// The result of checking evidence without a call to Apple.
public enum LocalCheck: Sendable {
    /// Any verdict: evidence that verifies, is rejected, was signed ahead of our clock, or needs a key that the app has
    /// not.
    case concluded(Verdict)
    /// Apple has to be asked. Before that the ledger is, where there is a look-up: a grant that answers it spares the
    /// call.
    ///
    /// - `isSigned`: whether Apple's signature on the evidence holds; nil if that was not looked at.
    case ask(Question, lookUp: GrantLookup?, isSigned: Bool?)
}

/// An app's rules for the further way of one submission.
public struct SubmissionRules: Hashable, Sendable {
    /// The app's fulfilment service must hear of each new grant before its event.
    public var owesCall: Bool
    public var repeats: RepeatPolicy
    /// A receipt claimed without `transactionId`: if nothing in it is new, that is a doubt first.
    public var doubtsNothingNew: Bool

    public init(owesCall: Bool = false, repeats: RepeatPolicy = .publish, doubtsNothingNew: Bool = false) {
        self.owesCall = owesCall
        self.repeats = repeats
        self.doubtsNothingNew = doubtsNothingNew
    }
}

/// A question to Apple as far as it has come. The core reads its endpoint and hands the rest on.
public struct Question: Sendable {
    public let endpoint: Endpoint
    /// The part that HTTP and checkers read.
    public let content: any Sendable

    public init(endpoint: Endpoint, content: any Sendable) {
        self.endpoint = endpoint
        self.content = content
    }
}

/// One call to Apple, which the endpoint's gate has let go.
public struct AttemptTask: Sendable {
    public let token: SubmissionToken
    public let submission: Submission
    public let question: Question
    /// Attempts that decided nothing so far: a refusal that comes again may be believed.
    public let attempts: Int
    /// The apps file as of now.
    public let rules: Rules
}

/// The end of an ``AttemptTask``.
public struct Answered: Sendable {
    public let token: SubmissionToken
    public let result: AttemptResult
    public let outcome: CallOutcome
    /// How long the call took.
    public let took: Duration
    /// The fault, in words for people without evidence or secrets, if the endpoint did not answer.
    public let fault: String?

    public init(
        token: SubmissionToken, result: AttemptResult, outcome: CallOutcome, took: Duration, fault: String? = nil
    ) {
        self.fault = fault
        self.token = token
        self.result = result
        self.outcome = outcome
        self.took = took
    }
}

/// The result of one call.
public enum AttemptResult: Sendable {
    case concluded(Verdict)
    /// Another call is needed: another secret, another page, the other environment. Its endpoint's gate has to let it
    /// go.
    case next(Question)
    /// The answer holds signatures, which the checkers verify.
    case check(Question)
}

/// The apps file as it is at one time: an immutable snapshot that the core attaches to checks and attempts.
public final class Rules: Sendable {
    /// Counts the snapshots, from 1.
    public let version: Int
    /// Apple's endpoints that submissions of these apps may need.
    public let endpoints: [EndpointRules]
    /// Apps with a fulfilment service.
    public let services: [BundleID]
    /// The part that HTTP and checkers read; the core does not.
    public let content: any Sendable

    public init(version: Int, endpoints: [EndpointRules], services: [BundleID], content: any Sendable) {
        self.version = version
        self.endpoints = endpoints
        self.services = services
        self.content = content
    }
}

/// How much an endpoint may be asked.
public struct EndpointRules: Hashable, Sendable {
    public let endpoint: Endpoint
    /// Calls a second; nil where Apple names no limit.
    public let rate: Double?

    public init(endpoint: Endpoint, rate: Double? = nil) {
        self.endpoint = endpoint
        self.rate = rate
    }
}
