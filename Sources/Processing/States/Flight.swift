import Contract
import Ledger
import Scheduling

/// Where a submission in flight came from.
enum FlightSource: Sendable {
    /// A record: its index in the table of partitions, the assignment it was read under, its number in the tracker.
    case record(index: Int, AssignmentID, number: UInt64, PartitionOwnership)
    /// A row of `retries`.
    case row(RetryLease)
    /// Of an empty slot.
    case nobody
}

/// The changing values of a submission in flight.
///
/// It is small, because every submission copies one in and out of the slab. Values that only questions to Apple,
/// redeliveries and malformed records need are kept apart.
struct Flight {
    var state = FlightState.vacant
    /// Its partition or its lease is gone: only events of an outcome that is written are still published.
    var isOrphan = false
    /// While it is in a batch that the ledger has.
    var isInBatch = false
    /// Each of its checks may end workers, so each begins behind a mark, and no other suspect is checked meanwhile.
    var isSuspect = false
    /// For a suspect record: its mark is requested or written, and its check has not ended.
    var isMarked = false
    /// Its check has ended too many workers, so it is quarantined unread.
    var isPoison = false
    /// How often a row of `retries` was taken without a result, this time included.
    var takings: UInt8 = 0
    /// How often the ledger did not decide it.
    var timesUndecided: UInt8 = 0
    var options = DecisionOptions()
    var source: FlightSource
    /// Bytes that the in-flight limit counts for it.
    var bytes: Int64 = 0
    var purchases = 0
    /// Events that the broker has not acknowledged and the outbox does not have.
    var unpublished = 0
    private(set) var submission: Submission?
    /// When its decision entered a batch: a second write of it has the same time.
    var decidedAt: Timestamp?

    private var granted: [GrantablePurchase] = []
    private var verifiedBy = VerifiedBy.local
    private var otherContent: Box<Decision.Content>?
    private var malformed: Box<MalformedSubmission>?
    private var countedAttempts = 0
    private var loading: LoadingState?
    private var asked: AskedState?

    init(_ source: FlightSource) { self.source = source }

    static var vacant: Flight { Flight(.nobody) }

    var isRecord: Bool {
        if case .record = source { true } else { false }
    }

    var subject: Decision.Subject? {
        get { submission.map { .submission($0) } ?? malformed.map { .malformed($0.value) } }
        set {
            (submission, malformed) = (nil, nil)
            switch newValue {
            case .submission(let next): submission = next
            case .malformed(let next): malformed = Box(next)
            case nil: break
            }
        }
    }

    var claimant: Claimant? { submission?.claimant ?? malformed?.value.claimant }

    /// The decision, until it is written.
    var content: Decision.Content? {
        get { granted.isEmpty ? otherContent?.value : .grant(granted, by: verifiedBy) }
        set {
            (granted, otherContent) = ([], nil)
            switch newValue {
            case .grant(let purchases, let by): (granted, verifiedBy) = (purchases, by)
            case .some(let other): otherContent = Box(other)
            case nil: break
            }
        }
    }

    var hasContent: Bool { !granted.isEmpty || otherContent != nil }

    /// Evidence that is decided without a call needs only the count.
    var attempts: AttemptState {
        get { asked?.attempts ?? AttemptState(attempts: countedAttempts) }
        set {
            if asked == nil, newValue.isCountOnly {
                countedAttempts = newValue.attempts
            } else {
                madeAsked().attempts = newValue
            }
        }
    }
}

extension Flight {
    /// A row of `retries` that is due.
    init(_ row: DueRetry) {
        self.init(.row(row.lease))
        bytes = Int64(row.submission.evidence.byteCount)
        subject = .submission(row.submission)
        attempts.attempts = row.attempts
        attempts.history = row.history
        attempts.doubt = row.doubt
        takings = UInt8(clamping: row.takings)
        waitedFor = row.cause
    }

    /// A row that needs no question still needs an endpoint to be due at: one without a key, which nobody asks. So it
    /// waits for no reply of Apple's.
    var endpoint: Endpoint { question?.endpoint ?? Endpoint(.serverAPI, .production) }

    /// Its lease on a row of `retries`, unless that is gone.
    var lease: RetryLease? { if case .row(let lease) = source, !isOrphan { lease } else { nil } }

    /// A lease counts its row as taken. Between its checks a suspect one counts no more than before it was taken.
    func renewal(isMarked: Bool) -> LeaseRenewal? {
        guard case .row(let lease) = source else { return nil }
        return LeaseRenewal(lease, takings: Int(takings) - (isSuspect && !isMarked ? 1 : 0))
    }

    /// The decision that is to be written for it. A second write of it is the same to the last byte, its time included.
    mutating func decision(at wall: Timestamp, tellsWaiting: Bool) -> Decision? {
        guard let subject, let content else { return nil }
        let origin: DecisionSource
        switch source {
        case .record(_, _, _, let ownership): origin = .record(ownership)
        case .row(let lease): origin = .row(lease)
        case .nobody: return nil
        }
        let moment = decidedAt ?? wall
        decidedAt = moment
        var begins = false
        if tellsWaiting, case .wait(let entry) = content { begins = beginsToWait(entry) }
        return Decision(
            subject: subject, source: origin, content: content, attempts: attempts.attempts, decidedAt: moment,
            owesCall: options.owesCall, tellsWaiting: begins, repeats: options.repeats,
            doubtsNothingNew: options.doubtsNothingNew)
    }

    /// Whether it begins to wait, or passes from its row's `retrying` to `held` or back.
    func beginsToWait(_ entry: RetryEntry) -> Bool {
        switch (waitedFor, entry.cause) {
        case (nil, _), (.held, .retrying), (.retrying, .held): true
        case (.held(let before), .held(let cause)): before != cause
        case (.retrying, .retrying): false
        }
    }
}

/// Holds a large value that few submissions have.
private final class Box<Value> {
    let value: Value

    init(_ value: Value) { self.value = value }
}

/// While a submission's record waits for its outcome or its mark.
private final class LoadingState {
    var record: InputRecord?
    var known: KnownOutcome?
}

/// A row for `retries` that is not written yet, and when its submission is checked anew if it still is not.
struct PostponedEntry {
    let entry: RetryEntry
    let due: Instant
}

/// Of a submission that Apple has to be asked about. Only its flight refers to it.
private final class AskedState {
    var lookUp: GrantLookup?
    var question: Question?
    var gate = -1
    var pass: EndpointGate.Pass?
    var isContinuing = false
    var isSigned: Bool?
    var attempts: AttemptState
    var waitedFor: WaitCause?
    var postponed: PostponedEntry?
    var awaited: CheckTask.Work?

    init(_ attempts: AttemptState) { self.attempts = attempts }
}

extension Flight {
    private mutating func madeAsked() -> AskedState {
        if let asked { return asked }
        let made = AskedState(AttemptState(attempts: countedAttempts))
        asked = made
        return made
    }

    private mutating func madeLoading() -> LoadingState {
        if let loading { return loading }
        let made = LoadingState()
        loading = made
        return made
    }

    /// The record, while its outcome is looked up or its mark written.
    var record: InputRecord? {
        get { loading?.record }
        set { if newValue != nil || loading != nil { madeLoading().record = newValue } }
    }

    /// The outcome of a redelivery.
    var known: KnownOutcome? {
        get { loading?.known }
        set { if newValue != nil || loading != nil { madeLoading().known = newValue } }
    }

    var lookUp: GrantLookup? {
        get { asked?.lookUp }
        set { madeAsked().lookUp = newValue }
    }

    var question: Question? {
        get { asked?.question }
        set { if newValue != nil || asked != nil { madeAsked().question = newValue } }
    }

    /// The gate that it waits for, is asked through or repeats at; -1 for none.
    var gate: Int {
        get { asked?.gate ?? -1 }
        set { madeAsked().gate = newValue }
    }

    var pass: EndpointGate.Pass? {
        get { asked?.pass }
        set { madeAsked().pass = newValue }
    }

    /// Apple replied to an earlier call of this attempt.
    var isContinuing: Bool {
        get { asked?.isContinuing ?? false }
        set { madeAsked().isContinuing = newValue }
    }

    /// Whether Apple's signature on its evidence holds; nil if that was not looked at.
    var isSigned: Bool? {
        get { asked?.isSigned }
        set { madeAsked().isSigned = newValue }
    }

    /// Why the row that it came from waited; nil for a record.
    var waitedFor: WaitCause? {
        get { asked?.waitedFor }
        set { if newValue != nil || asked != nil { madeAsked().waitedFor = newValue } }
    }

    /// Its row for `retries`, while these have no room for it or its signature is looked at.
    var postponed: PostponedEntry? {
        get { asked?.postponed }
        set { if newValue != nil || asked != nil { madeAsked().postponed = newValue } }
    }

    /// A check after the first, while its mark is waited for.
    var awaited: CheckTask.Work? {
        get { asked?.awaited }
        set { if newValue != nil || asked != nil { madeAsked().awaited = newValue } }
    }
}

typealias Flights = Slab<Flight, SubmissionInFlight>

extension Flights: WaitingSubmissions {
    /// Whether a token in a gate's queue still stands for a submission that waits there.
    func isWaiting(_ token: SubmissionToken) -> Bool { contains(token) && self[token].state == .waiting }

    func isRow(_ token: SubmissionToken) -> Bool { if case .row = self[token].source { true } else { false } }

    func isLookingUp(_ token: SubmissionToken) -> Bool {
        contains(token) && self[token].state == .lookingUp && self[token].lookUp != nil
    }

    func isAwaitingMark(_ token: SubmissionToken) -> Bool { contains(token) && self[token].state == .marking }
    func isInCheck(_ token: SubmissionToken) -> Bool { contains(token) && self[token].state.isInCheck }

    /// Whether a token in the batcher's queue still stands for a decision that is to be written. Results belong to
    /// decisions by their order, so a decision that could not be made must not stand among them.
    func isWriting(_ token: SubmissionToken) -> Bool {
        contains(token) && self[token].state == .writing && self[token].claimant != nil && self[token].hasContent
    }
}

/// An event on its way to the broker.
struct EventFlight: Sendable {
    enum Owner: Sendable {
        case submission(SubmissionToken)
        case outbox(OutboxToken)
    }

    let owner: Owner
    /// The outbox entry if the broker does not take it; nil if any result of the broker ends it.
    let entry: OutboxEntry?
    /// Kept for another try while the outbox takes no more.
    let event: Event
    /// When it was first to be produced.
    let since: Instant

    static let vacant = EventFlight(
        owner: .outbox(OutboxToken(slot: -1, use: 0)), entry: nil,
        event: Event(id: "", topic: .quarantined, key: nil, headers: [], value: nil), since: Instant(nanoseconds: 0))
}

/// A row of the outbox that this worker works on.
struct OutboxFlight: Sendable {
    let lease: OutboxLease
    let attempts: Int
    var state = OutboxFlightState.taken

    init(lease: OutboxLease, attempts: Int) {
        self.lease = lease
        self.attempts = attempts
    }

    static let vacant = OutboxFlight(
        lease: OutboxLease(key: .failed(SubmissionKey(bundleID: "", submissionID: "")), step: .publish, number: 0),
        attempts: 0)
}
