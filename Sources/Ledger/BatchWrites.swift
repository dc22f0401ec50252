public import Contract

/// A grant that a batch tries to add.
public struct NewGrant: Hashable, Sendable {
    /// The decision's index in the batch.
    public let decision: Int
    public let grant: Grant
}

/// A row of `answers` that a batch tries to add.
public struct NewAnswer: Hashable, Sendable {
    /// The decision's index in the batch.
    public let decision: Int
    public let answer: Answer
    /// The existing row is another user's repeat and is replaced. The grant has the same information, and this failure
    /// would otherwise have no event.
    public let replaces: Bool
}

/// A row of `retries` that a record adds: it is inserted, or an existing row stays.
public struct NewRetry: Hashable, Sendable {
    public let key: RetryKey
    public let submission: Submission
    public let attempts: Int
    public let entry: RetryEntry
}

/// A row of `retries` that goes on waiting; its lease ends with it.
public struct RetryUpdate: Hashable, Sendable {
    public let lease: RetryLease
    public let attempts: Int
    public let entry: RetryEntry
}

/// A new row of `outbox`: it is inserted, or an existing row stays.
public struct NewOutboxRow: Hashable, Sendable {
    public let key: OutboxKey
    public let step: OutboxStep
    public let target: OutboxTarget
    /// Milliseconds until it is due.
    public let delay: Int64
    /// The stub of a quarantined record; nil for any other row.
    public let stub: QuarantineStub?

    private init(_ key: OutboxKey, _ step: OutboxStep, _ target: OutboxTarget, delay: Int64, stub: QuarantineStub?) {
        self.key = key
        self.step = step
        self.target = target
        self.delay = delay
        self.stub = stub
    }

    /// The fulfilment call of a grant, before its event or the copy that a repeat asks for.
    init(call grant: Grant, repeatOf submission: SubmissionID? = nil) {
        self.init(
            .granted(grant.reference, repeatOf: submission), .call, .service(grant.bundleID), delay: 0, stub: nil)
    }

    init(publishing key: OutboxKey) { self.init(key, .publish, key.target, delay: 0, stub: nil) }

    public init(_ entry: OutboxEntry) {
        self.init(entry.key, .publish, entry.key.target, delay: entry.delay, stub: entry.stub)
    }

    public init(_ stub: QuarantineStub) {
        self.init(stub.outboxKey, .publish, stub.outboxKey.target, delay: 0, stub: stub)
    }
}

/// The writes of a batch in full form besides its grants and answers, in the same transaction.
public struct BatchWrites: Sendable {
    /// Grants of this transaction that must not stay, because another purchase of their submission could not be
    /// decided. A submission is written whole or not at all.
    public internal(set) var withdrawn: [NewGrant] = []
    public internal(set) var retries: [NewRetry] = []
    public internal(set) var updatedRetries: [RetryUpdate] = []
    /// Rows of `retries` that were decided; each was found under its lease in this transaction.
    public internal(set) var endedRetries: [RetryLease] = []
    public internal(set) var outbox: [NewOutboxRow] = []
}

/// The content of an event about a row.
enum Telling: Hashable {
    case grant(Grant, repeatOf: SubmissionID?)
    case failure(Failure)
    case pending(PendingSubmission, RetryKey)

    var key: OutboxKey {
        switch self {
        case .grant(let grant, let submission): .granted(grant.reference, repeatOf: submission)
        case .failure(let failure): .failed(failure.claimant.submissionKey)
        case .pending(_, let key): .pending(key)
        }
    }

    /// Made from the row alone, so that every copy is the same bytes.
    var event: RenderedEvent {
        switch self {
        case .grant(let grant, let submission):
            RenderedEvent(key: key, event: GrantedEvent.event(of: grant, repeatOf: submission))
        case .failure(let failure): RenderedEvent(key: key, event: FailedEvent.event(of: failure))
        case .pending(let pending, _): RenderedEvent(key: key, event: PendingEvent.event(of: pending))
        }
    }

    /// The row of the outbox that owes it.
    var outboxRow: NewOutboxRow { NewOutboxRow(publishing: key) }
}
