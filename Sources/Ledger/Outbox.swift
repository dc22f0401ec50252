public import Contract

/// What a row of `outbox` owes.
public enum OutboxKey: Hashable, Sendable {
    /// The event of a grant; with a mark where a repeat asked for a copy.
    case granted(GrantReference, repeatOf: SubmissionID?)
    /// The event of a failed submission.
    case failed(BundleID, SubmissionID)
    /// The stub of a quarantined record.
    case quarantined(Origin)
}

/// An event as rendered from its stored row, with the key under which the outbox keeps it if the broker does not take it.
public struct StoredEvent: Hashable, Sendable {
    public let key: OutboxKey
    public let event: Event

    public init(key: OutboxKey, event: Event) {
        self.key = key
        self.event = event
    }
}

/// A row's step: a call comes before the event that it is about.
public enum OutboxStep: String, Hashable, Sendable, CaseIterable {
    case call
    case publish
}

/// Where a row's next step goes, and so which gate lets it go.
public enum OutboxTarget: Hashable, Sendable {
    case topic(Topic)
    /// An app's fulfilment service.
    case service(BundleID)
}

/// A row that is to be added because no uncommitted offset covers what is owed: its event was not taken in time.
public struct OutboxEntry: Hashable, Sendable {
    /// The write counts only under this ownership.
    public let ownership: PartitionOwnership
    public let key: OutboxKey
    /// Milliseconds until it is due.
    public let delay: Int64
    /// A quarantined record's stub: its words are all that is kept of the record.
    public let stub: QuarantineStub?

    public init(ownership: PartitionOwnership, key: OutboxKey, delay: Int64, stub: QuarantineStub? = nil) {
        self.ownership = ownership
        self.key = key
        self.delay = delay
        self.stub = stub
    }
}

/// A row of the outbox that one worker has under a lease.
public struct OutboxLease: Hashable, Sendable {
    public let key: OutboxKey
    public let step: OutboxStep
    public let number: Int64

    public init(key: OutboxKey, step: OutboxStep, number: Int64) {
        self.key = key
        self.step = step
        self.number = number
    }
}

/// A due row of the outbox, with what its step needs, rendered from the row that it refers to.
public struct OutboxItem: Sendable {
    public enum Work: Sendable {
        case publish(Event)
        case call(Grant)
    }

    public let lease: OutboxLease
    public let attempts: Int
    public let work: Work

    public init(lease: OutboxLease, attempts: Int, work: Work) {
        self.lease = lease
        self.attempts = attempts
        self.work = work
    }
}

/// What became of a row's step.
public enum OutboxReport: Hashable, Sendable {
    /// Published: the row goes.
    case published(OutboxLease)
    /// The service has said yes: the row's step is `publish` now, due at once.
    case called(OutboxLease)
    /// Not this time: due again after so many milliseconds.
    case postponed(OutboxLease, delay: Int64)
}

/// How much of the outbox is due.
public struct OutboxRequest: Hashable, Sendable {
    public let target: OutboxTarget
    public let limit: Int

    public init(target: OutboxTarget, limit: Int) {
        self.target = target
        self.limit = limit
    }
}
