public import Contract

/// Where a decision's submission came from, which is what its write depends on.
public enum DecisionSource: Hashable, Sendable {
    /// A record that was read; the write counts only under this ownership.
    case record(PartitionOwnership)
    /// A row of `retries`; the write counts only under this lease.
    case row(RetryLease)
}

/// The decision to be written for one submission. It carries the submission's evidence until it is written, because the
/// write may find nothing new. That is a doubt at first.
public struct Decision: Hashable, Sendable {
    public enum Subject: Hashable, Sendable {
        case submission(Submission)
        /// It has no evidence that could be kept: its content is ``Content/fail(_:)``.
        case malformed(MalformedSubmission)
    }

    /// The outcome that is wanted. The rows that are there may lead to another one, which ``DecisionResult`` has.
    public enum Content: Hashable, Sendable {
        /// Grant these, each at most once; never empty.
        case grant([GrantablePurchase], by: VerifiedBy)
        /// The user was granted this purchase before, as the look-up before a call found.
        case repeated(GrantReference)
        case fail(Rejection)
        /// Keep it in `retries`, or keep it there. It ends as a claim of its purchases would, once all were granted.
        case wait(RetryEntry)

        /// Purchases that a grant leaves out.
        public var passedOver: PassedOver? {
            guard case .grant(let purchases, _) = self else { return nil }
            return purchases.passedOver
        }

        /// Named purchases that it does not grant and that may still be granted. The ledger may have grants of them.
        public var waitingPurchases: [NamedPurchase] {
            switch self {
            case .grant(let purchases, _): purchases.passedOver?.holding.map(\.purchase) ?? []
            case .wait(let entry): entry.purchases
            case .repeated, .fail: []
            }
        }
    }

    public let subject: Subject
    public let source: DecisionSource
    public let content: Content
    /// Attempts at a verdict so far, for the row and its event.
    public let attempts: Int
    /// Wall clock at the entry into the first batch. A second write of the same decision carries the same.
    public let decidedAt: Timestamp
    /// The app's fulfilment service is called for each new grant before its event: the write adds the outbox row of the
    /// call.
    public let owesCall: Bool
    /// Whether a waiting submission gets a pending event: it begins to wait, or passes from `retrying` to `held` or
    /// back.
    public let tellsWaiting: Bool
    /// Whether a repeat gets a copy of the event.
    public let repeats: RepeatPolicy
    /// If no purchase is new, and no grant of them has the claim's order: write nothing and return
    /// ``DecisionResult/nothingNew``. Set for receipts claimed without `transactionId`, as long as their doubt has not
    /// ended.
    public let doubtsNothingNew: Bool

    public init(
        subject: Subject, source: DecisionSource, content: Content, attempts: Int, decidedAt: Timestamp,
        owesCall: Bool, tellsWaiting: Bool, repeats: RepeatPolicy, doubtsNothingNew: Bool
    ) {
        self.subject = subject
        self.source = source
        self.content = content
        self.attempts = attempts
        self.decidedAt = decidedAt
        self.owesCall = owesCall
        self.tellsWaiting = tellsWaiting
        self.repeats = repeats
        self.doubtsNothingNew = doubtsNothingNew
    }

    public var claimant: Claimant {
        switch subject {
        case .submission(let submission): submission.claimant
        case .malformed(let malformed): malformed.claimant
        }
    }

    public var origin: Origin { subject.origin }
}

extension Decision.Subject {
    public var origin: Origin {
        switch self {
        case .submission(let submission): submission.origin
        case .malformed(let malformed): malformed.origin
        }
    }
}

/// The end of the write of one decision. After every case but ``written(_:publish:passedOver:)`` the ledger has nothing
/// of it.
public enum DecisionResult: Hashable, Sendable {
    /// It is durable. The events are rendered from the rows as stored; the submission is complete once the broker has
    /// acknowledged all of them. None where a call is owed, where the rows went to the outbox, or where `repeats` is
    /// `ignore`. Purchases that were passed over are counted with the record's rows. Each write that finds these rows
    /// counts them again, because the first reply may be lost.
    case written(Outcome, publish: [RenderedEvent], passedOver: [PassedOver.Reason: Int] = [:])
    /// Nothing was written: the generation was old, or the lease was another worker's, or its row was gone. The present
    /// owner of the partition or the row decides.
    case notOwned
    /// Nothing in a grant is new, and that may not be all: see ``Decision/doubtsNothingNew``. Nothing was written.
    case nothingNew
    /// A key was refused and its holder is not visible yet, or the batch holds the submission twice: nothing was
    /// written. Write it again in a later batch.
    case undecided
    /// Nothing was written: the submission is to be held for this cause instead. The ledger may have granted for an app
    /// that the decision does not know. A purchase that was passed over may hold, with nothing new beside it. A row
    /// that it depends on may be a later version's. The detail is for people.
    case toBeHeld(HoldCause, detail: String)
    /// The database refuses the decision's data, alone as well: nothing was written. The detail is for people and holds
    /// no data.
    case refused(detail: String)

    /// The outcome of a submission that a person gives up; nil if nothing was decided.
    public var ofAbandoned: Outcome? {
        switch self {
        case .written(let outcome, _, _): outcome
        case .toBeHeld(let cause, _): .held(cause)
        case .notOwned, .nothingNew, .undecided, .refused: nil
        }
    }
}

/// The outcome that a submission has in the ledger now.
public enum Outcome: Hashable, Sendable {
    /// At least one purchase is the submission's own; `created` of the grants are new.
    case granted(created: Int)
    /// The same record was read again; its outcome stands.
    case redelivery
    /// Another submission's grant answers this one.
    case repeated
    /// Its failure, or the failure that stood there before.
    case failed(reason: String)
    case retrying(RetryCause)
    case held(HoldCause)

    public var isHeld: Bool { if case .held = self { true } else { false } }
}
