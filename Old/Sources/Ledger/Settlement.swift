public import Purchases

/// What names a submission for ever: the app and the producer's own idempotency key.
public struct SubmissionKey: Hashable, Sendable {
    public let bundleID: BundleID
    public let submissionID: SubmissionID

    /// The key of a submission.
    public init(bundleID: BundleID, submissionID: SubmissionID) {
        self.bundleID = bundleID
        self.submissionID = submissionID
    }

    public func hash(into hasher: inout Hasher) {
        // Equal keys have equal ids, so the app adds little.
        hasher.combine(submissionID)
    }
}

/// What verification decided about one submission, to be made durable.
public enum Decision: Hashable, Sendable {
    /// Grant these, each at most once; the ledger's unique key has the last word.
    case grant([GrantablePurchase], by: VerifiedBy)
    case fail(Rejection)
    /// Keep it, evidence included, and try it again when it is due.
    case wait(Waiting)
    /// Its outcome is in the ledger already: publish the answer again.
    case answerAgain
}

/// One submission's way into the ledger.
///
/// A class, because it goes through several lists and rules: a reference is handed on instead of a dozen texts, each counted.
public final class Settlement: Sendable {
    public let claimant: Claimant
    /// SHA-256, lower-case hex, of all that the submission claims. Tells a repeat from a reused id.
    public let fingerprint: String
    public let origin: Origin
    /// Time of the record in the input topic.
    public let receivedAt: Timestamp
    /// How often verification was tried; 0 when it was decided before it.
    public let attempts: Int
    /// The tries that decided nothing.
    public let history: AttemptHistory
    public let decision: Decision
    /// How grants that this makes are told; nil if their events are published at once.
    public let delivery: DeliveryOrder?

    /// A decided submission.
    public init(
        claimant: Claimant, fingerprint: String, origin: Origin, receivedAt: Timestamp, attempts: Int,
        history: AttemptHistory = AttemptHistory(), decision: Decision, delivery: DeliveryOrder? = nil
    ) {
        self.claimant = claimant
        self.fingerprint = fingerprint
        self.origin = origin
        self.receivedAt = receivedAt
        self.attempts = attempts
        self.history = history
        self.decision = decision
        self.delivery = delivery
    }

    /// The same, with its grants' events told in another way.
    public func told(by delivery: DeliveryOrder?) -> Settlement {
        Settlement(
            claimant: claimant, fingerprint: fingerprint, origin: origin, receivedAt: receivedAt, attempts: attempts,
            history: history, decision: decision, delivery: delivery)
    }

    /// The submission's name in the ledger.
    public var key: SubmissionKey {
        SubmissionKey(bundleID: claimant.bundleID, submissionID: claimant.submissionID)
    }
}

extension Settlement: Hashable {
    /// By all that they hold.
    public static func == (left: Settlement, right: Settlement) -> Bool {
        left.claimant == right.claimant && left.fingerprint == right.fingerprint && left.origin == right.origin
            && left.receivedAt == right.receivedAt && left.attempts == right.attempts && left.history == right.history
            && left.decision == right.decision && left.delivery == right.delivery
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(key)
        hasher.combine(origin)
    }
}

/// A record that could not be read, on its way into the ledger and out to the quarantine topic.
public struct Quarantine: Hashable, Sendable {
    public let origin: Origin
    /// Machine-readable reason.
    public let reason: String
    public let event: Event

    /// An unreadable record with the event that carries it on.
    public init(origin: Origin, reason: String, event: Event) {
        self.origin = origin
        self.reason = reason
        self.event = event
    }
}

/// What became of a settled submission.
public enum SettledOutcome: Hashable, Sendable {
    /// At least one purchase is the user's. `created` of the events' grants are new, the others were theirs before.
    case granted(events: [EventID], created: Int)
    case failed(event: EventID, reason: FailureReason)
    /// It is kept, and will be tried again.
    case waiting(WaitingCause)
    /// The recorded answer is published again; nothing new was decided.
    case answeredAgain(events: [EventID])
}

/// A submission as the ledger has it.
public struct RecordedSubmission: Hashable, Sendable {
    public let fingerprint: String
    public let outcome: RecordedOutcome

    /// What a look-up returns.
    public init(fingerprint: String, outcome: RecordedOutcome) {
        self.fingerprint = fingerprint
        self.outcome = outcome
    }
}

/// The `outcome` column of a submission.
public enum RecordedOutcome: String, Sendable, CaseIterable {
    case granted
    case failed
    case parked
    case held

    /// Whether the outcome stands for good: a repeat of the submission is answered with it.
    public var isFinal: Bool {
        switch self {
        case .granted, .failed: true
        case .parked, .held: false
        }
    }
}
