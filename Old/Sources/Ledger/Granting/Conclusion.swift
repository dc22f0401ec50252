public import Purchases

/// What a ledger writes for one settlement, besides the grants and events that its claims created.
public struct Conclusion: Hashable, Sendable {
    /// What an operator should hear of.
    public enum Warning: String, Hashable, Sendable, CaseIterable {
        /// A producer used one submission id for two different submissions.
        case reusedID = "reused_id"
        /// The settlement carried no decision that could be written.
        case undecided
    }

    /// What the caller is told.
    public let outcome: SettledOutcome
    public let change: SubmissionChange
    /// Events of the outbox to ask one more copy of, each once.
    public let again: [EventID]
    /// Write the failed event of this rejection.
    public let failure: Rejection?
    public let warning: Warning?

    /// The outcome that the submission's row is given; nil if it keeps its own.
    var recorded: RecordedOutcome? {
        guard case .write(let content) = change else { return nil }
        return content.outcome
    }

    init(
        outcome: SettledOutcome, change: SubmissionChange, again: [EventID] = [], failure: Rejection? = nil,
        warning: Warning? = nil
    ) {
        self.outcome = outcome
        self.change = change
        self.again = again
        self.failure = failure
        self.warning = warning
    }
}

/// How a submission's row changes.
public enum SubmissionChange: Hashable, Sendable {
    case keep
    /// Replace the event ids by these; all else stays.
    case append([EventID])
    /// Write the row, or all of it anew: claimant, fingerprint, origin and times of the settlement, and this.
    case write(SubmissionContent)
}

/// The part of a submission's row that is decided.
public struct SubmissionContent: Hashable, Sendable {
    public let outcome: RecordedOutcome
    /// Failure reason, or why it waits; nil for a granted one.
    public let reason: String?
    public let detail: String?
    /// Kept only while the submission waits.
    public let waiting: Waiting?
    /// The transaction that a submission is about which was granted nothing, where one is known.
    public let transactionID: TransactionID?
    public let events: [EventID]

    init(
        outcome: RecordedOutcome, reason: String? = nil, detail: String? = nil, waiting: Waiting? = nil,
        transactionID: TransactionID? = nil, events: [EventID]
    ) {
        self.outcome = outcome
        self.reason = reason
        self.detail = detail
        self.waiting = waiting
        self.transactionID = transactionID
        self.events = events
    }
}
