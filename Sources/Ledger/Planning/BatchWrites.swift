public import Contract

/// A grant that a batch tries to add.
public struct NewGrant: Hashable, Sendable {
    /// The decision's place in the batch.
    public let decision: Int
    public let grant: Grant
}

/// A row of `grants`, and whether its fulfilment call is still owed.
public struct StoredGrant: Hashable, Sendable {
    public let grant: Grant
    public let owesCall: Bool

    public init(_ grant: Grant, owesCall: Bool) {
        self.grant = grant
        self.owesCall = owesCall
    }
}

/// A question to `grants`: which rows hold what a new one wanted.
public struct HolderQuestion: Hashable, Sendable {
    public let reference: GrantReference
    /// Nil where the reference alone is asked for.
    public let key: GrantKey?

    public init(_ reference: GrantReference, _ key: GrantKey? = nil) {
        self.reference = reference
        self.key = key
    }
}

/// What a batch in full form reads once its grants were tried.
public struct BatchQuestions: Sendable {
    public internal(set) var holders: [HolderQuestion] = []
    /// All grants of these submissions.
    public internal(set) var submissions: [SubmissionKey] = []

    public var isEmpty: Bool { holders.isEmpty && submissions.isEmpty }
}

/// A new row of `answers`, inserted or left.
public struct NewAnswer: Hashable, Sendable {
    public let answer: Answer
    /// The row there is another user's repeat and goes: its grant says as much, and this failure would not be told.
    public let replaces: Bool
}

/// A row of `retries` as a record adds it: inserted, or the one left that is there.
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

/// A new row of `outbox`, due at once: inserted, or the one left that is there.
public struct NewOutboxRow: Hashable, Sendable {
    public let key: OutboxKey
    public let step: OutboxStep
    public let target: OutboxTarget
}

/// What a batch in full form writes besides its grants, in the same transaction.
public struct BatchWrites: Sendable {
    /// Grants of this transaction that are taken back: another purchase of their submission could not be decided, and a
    /// submission is written whole or not at all.
    public internal(set) var withdrawn: [GrantReference] = []
    public internal(set) var answers: [NewAnswer] = []
    public internal(set) var retries: [NewRetry] = []
    public internal(set) var updatedRetries: [RetryUpdate] = []
    /// Rows of `retries` that were decided; each was found under its lease in this transaction.
    public internal(set) var endedRetries: [RetryLease] = []
    public internal(set) var outbox: [NewOutboxRow] = []
}

/// What is told of a row.
enum Telling: Hashable {
    case grant(Grant, repeatOf: SubmissionID?)
    case failure(Failure)

    var key: OutboxKey {
        switch self {
        case .grant(let grant, let submission): .granted(grant.reference, repeatOf: submission)
        case .failure(let failure): .failed(failure.claimant.bundleID, failure.claimant.submissionID)
        }
    }

    /// Made from the row alone, so that every copy is the same bytes.
    var event: StoredEvent {
        switch self {
        case .grant(let grant, let submission):
            StoredEvent(key: key, event: GrantedEvent.event(of: grant, repeatOf: submission))
        case .failure(let failure): StoredEvent(key: key, event: FailedEvent.event(of: failure))
        }
    }

    /// The row of the outbox that owes it.
    var outboxRow: NewOutboxRow { NewOutboxRow(key: key, step: .publish, target: key.target) }
}
