public import Contract
public import Ledger

/// News for the core. Each driver posts its own; the core takes all that have come in one turn.
///
/// Inputs are plain values: the same inputs at the same instants, with the same seed, give the same actions.
public enum Input: Sendable {
    // MARK: Consumer

    /// The group gives partitions to this worker. Nothing is read until ``Actions/assign`` names them.
    case assigned([TopicPartition])
    /// A partition's offsets are behind where it was read: its topic was made anew, or lost its end.
    case wentBack(AssignmentID)
    /// A partition's records come damaged from an offset on: it is read again after a while.
    case unreadable(AssignmentID, at: Int64)
    /// The group takes partitions away, or they were lost. The driver has unassigned them already.
    case revoked([TopicPartition])
    /// The group's committed offsets, asked for by ``Actions/fetchCommitted``; nil if the broker did not reply. Where
    /// none of those partitions has one, the topic's others are with them.
    case committed([CommittedOffset]?)
    /// Records of one partition, their offsets rising.
    case records(RecordBatch)

    // MARK: Checkers and HTTP

    /// Results of ``Actions/checks``, in any order.
    case checked([Checked])
    /// Ends of ``Actions/attempts``, in any order.
    case attempted([Attempted])
    /// Ends of ``Actions/calls``, in any order.
    case called([Called])

    // MARK: Ledger

    /// The end of a batch of ``Actions/writes``: one result per decision, in order.
    case written(BatchID, Result<[DecisionResult], LedgerError>)
    /// The end of one of ``Actions/requests``.
    case ledger(RequestID, Result<LedgerResult, LedgerError>)

    // MARK: Producer and lifecycle

    /// Ends of ``Actions/publishes``, in any order.
    case published([PublishReport])
    /// The apps file as of now; the first one comes before any partition.
    case apps(AppsSnapshot)
    /// The worker ends. ``Actions/stop`` says when it may.
    case stop
}

/// Where the group's committed offset of a partition stands.
public struct CommittedOffset: Hashable, Sendable {
    public let partition: TopicPartition
    /// Nil if the group has none.
    public let offset: Int64?

    public init(partition: TopicPartition, offset: Int64?) {
        self.partition = partition
        self.offset = offset
    }
}

/// Records of one partition that were read under one assignment.
public struct RecordBatch: Sendable {
    public let assignment: AssignmentID
    public let records: [InputRecord]

    public init(assignment: AssignmentID, records: [InputRecord]) {
        self.assignment = assignment
        self.records = records
    }
}

/// The broker's result for one event.
public struct PublishReport: Sendable {
    /// Whether the broker has the event.
    public enum Result: Hashable, Sendable {
        case acknowledged
        /// The broker did not acknowledge it in ten seconds, or refuses it. It may be on the topic all the same.
        case failed
        /// The topic or the broker refuses it for its size, and always will.
        case tooLarge
    }

    public let token: PublishToken
    public let result: Result
    /// Why the broker does not take it, for people. Nil while the broker is away, which is logged once for all.
    public let cause: String?

    public init(token: PublishToken, result: Result, cause: String? = nil) {
        self.cause = cause
        self.token = token
        self.result = result
    }
}

/// The end of a fulfilment call.
public struct Called: Sendable {
    /// Whether the service said yes.
    public enum Result: Hashable, Sendable {
        /// The service has the grant.
        case accepted
        /// Anything else: it may not have been applied, and is tried again for ever.
        case notAccepted(ServiceAnswer)
    }

    public let token: OutboxToken
    public let result: Result
    public let outcome: CallOutcome
    /// How long the call took.
    public let took: Duration
    /// The fault, in words for people, if the service did not answer.
    var fault: String? {
        guard case .notAccepted(let answer) = result, outcome != .replied, outcome != .unknown else { return nil }
        return answer.words
    }
    /// How long the service asks not to be called for this grant; nil if it says nothing.
    public let retryAfter: Duration?

    public init(
        token: OutboxToken, result: Result, outcome: CallOutcome, took: Duration, retryAfter: Duration? = nil
    ) {
        self.retryAfter = retryAfter
        self.token = token
        self.result = result
        self.outcome = outcome
        self.took = took
    }
}

/// Names a slot of a slab and its use, so that a result for an earlier use is dropped.
///
/// Drivers hand it back with a result and read nothing from it.
public struct Token<Element>: Hashable, Sendable {
    let slot: Int32
    let use: UInt32

    init(slot: Int32, use: UInt32) {
        self.slot = slot
        self.use = use
    }

    /// A number for libraries that hand back no more than that.
    public var rawValue: UInt64 { UInt64(UInt32(bitPattern: slot)) << 32 | UInt64(use) }

    /// The token of a number.
    public init(rawValue: UInt64) {
        slot = Int32(bitPattern: UInt32(truncatingIfNeeded: rawValue >> 32))
        use = UInt32(truncatingIfNeeded: rawValue)
    }
}

/// Names a submission in flight.
public typealias SubmissionToken = Token<SubmissionInFlight>
/// Names an event on its way to the broker.
public typealias PublishToken = Token<EventInFlight>
/// Names a row of the outbox that is worked on.
public typealias OutboxToken = Token<OutboxRowInFlight>

public enum SubmissionInFlight {}
public enum EventInFlight {}
public enum OutboxRowInFlight {}

/// Names a batch of decisions at the ledger.
public struct BatchID: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt64

    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// Names a request to the ledger.
public struct RequestID: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt64

    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// Names one assignment of a partition at the consumer; a partition that is assigned again has another one.
public struct AssignmentID: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt64

    public init(rawValue: UInt64) { self.rawValue = rawValue }
}
