import Contract
import Ledger

/// Where a submission in flight is. Every transition has one function of ``WorkerCore`` and one test.
///
/// | state | waits for | then |
/// |---|---|---|
/// | `loading` | the outcomes that the ledger has for its batch, because it may be a redelivery | `checking` |
/// | `marking` | the ledger's mark, because its partition has ended workers before | `checking` |
/// | `checking` | a checker | `writing`, `lookingUp`, `waiting`, `publishing`, `complete` |
/// | `lookingUp` | the ledger: was the purchase granted before? | `writing`, `waiting` |
/// | `waiting` | its endpoint's gate | `asking`; `writing` to `retries`; `checking` by signature alone |
/// | `asking` | Apple | `writing`, `delayed`, `waiting`, `reading` |
/// | `reading` | a checker, which verifies Apple's signatures | as `asking` |
/// | `delayed` | the moment of its next attempt, or room in `retries` | `waiting`, `writing` |
/// | `writing` | a batch and its result | `publishing`, `complete`, `writing` again |
/// | `publishing` | the broker | `complete`, `owing` |
/// | `owing` | the outbox | `complete` |
///
/// A submission whose partition is gone leaves from every state at once, but for four: a call that is under way is waited
/// for, because the gate counts it (`asking`); what a batch under way writes is published (`writing`), as is what is on its
/// way (`publishing`, `owing`).
enum FlightState: UInt8, Sendable, CaseIterable {
    case vacant
    case loading, marking, checking, lookingUp, waiting, asking, reading, delayed, writing, publishing, owing
}

/// Where a submission in flight came from.
enum FlightSource: Sendable {
    /// A record: its place in the table of partitions, the assignment it was read under, its number in the tracker.
    case record(place: Int, AssignmentID, number: UInt64, PartitionOwnership)
    /// A row of `retries`.
    case retry(RetryLease)
    /// Of an empty slot.
    case nobody
}

/// All that changes about a submission in flight.
struct Flight: Sendable {
    var state = FlightState.vacant
    var source: FlightSource
    /// Its partition or its lease is gone: only what is written already is still told.
    var isOrphan = false
    /// What the in-flight limit counts for it.
    var bytes: Int64 = 0
    var purchases = 0

    /// While its outcome is looked up, or its mark written.
    var record: InputRecord?
    /// Of a redelivery.
    var known: KnownOutcome?
    var subject: Decision.Subject?
    var rules = SubmissionRules()
    var lookUp: GrantLookup?
    var question: Question?
    /// Place of the gate that it waits for, is asked through or repeats at.
    var gate = -1
    var pass: EndpointGate.Pass?
    /// Apple answered an earlier call of this attempt.
    var isContinuing = false
    var attempts = AttemptState()
    /// Kept as it is until it is written: a second write of it has the same time.
    var decision: Decision?
    /// What is decided, until the decision enters a batch.
    var content: Decision.Content?
    /// Its row for `retries`, which have no room for it at the moment.
    var postponed: RetryEntry?
    /// Apple's signature alone did not decide it.
    var isCheckedAlone = false
    /// While it is in a batch that the ledger has.
    var isInBatch = false
    /// Events that the broker has not acknowledged and the outbox does not have.
    var untold = 0

    init(_ source: FlightSource) { self.source = source }

    var isRecord: Bool {
        if case .record = source { true } else { false }
    }

    /// The submission, where one could be read.
    var submission: Submission? {
        if case .submission(let submission) = subject { submission } else { nil }
    }

    static let vacant = Flight(.nobody)
}

/// All submissions in flight.
typealias Flights = Slab<Flight, SubmissionInFlight>

extension Flights {
    /// Whether a token in a gate's queue still stands for a submission that waits there.
    func isWaiting(_ token: SubmissionToken) -> Bool { contains(token) && self[token].state == .waiting }

    /// Whether a token in the batcher's queue still stands for a decision that is to be written.
    func isWriting(_ token: SubmissionToken) -> Bool { contains(token) && self[token].state == .writing }
}

/// An event on its way to the broker.
struct EventFlight: Sendable {
    enum Owner: Sendable {
        case submission(SubmissionToken)
        case outbox(OutboxToken)
    }

    let owner: Owner
    /// Nil where the broker's word ends it either way.
    let entry: OutboxEntry?
    /// Kept for another try while the outbox takes no more.
    let event: Event

    static let vacant = EventFlight(
        owner: .outbox(OutboxToken(slot: -1, use: 0)), entry: nil,
        event: Event(id: "", topic: .quarantined, key: nil, headers: [], value: nil))
}

/// A row of the outbox that this worker works on.
struct OutboxFlight: Sendable {
    let lease: OutboxLease
    let attempts: Int
    /// Of a call that is under way.
    var gate = -1
    var pass: EndpointGate.Pass?

    init(lease: OutboxLease, attempts: Int) {
        self.lease = lease
        self.attempts = attempts
    }

    static let vacant = OutboxFlight(
        lease: OutboxLease(key: .failed("", ""), step: .publish, number: 0), attempts: 0)
}
