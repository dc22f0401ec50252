public import Contract
public import Ledger

/// A fact that breaks a rule, looked at twice before it is named.
public struct Inconsistency: Hashable, Sendable {
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// A record of the input topic is passed, and nothing in the ledger shows what became of it.
        case recordWithoutOutcome = "record_without_outcome"
        /// A record that cannot be read is passed, and is neither on the quarantine topic nor owed to it.
        case quarantineUntold = "quarantine_untold"
        /// A grant's event is neither on its topic nor owed.
        case grantUntold = "grant_untold"
        /// A failed submission's event is neither on its topic nor owed.
        case failureUntold = "failure_untold"
        /// A topic of events has a record without a row.
        case eventWithoutRow = "event_without_row"
        /// A topic of events has other bytes than the row makes. No event mends it: it would say other things than one
        /// that stands under the same id.
        case eventAltered = "event_altered"
        /// Two rows make one event id: grants of one key, or failures of one submission.
        case keyTwice = "key_twice"
        /// Two rows have one transaction: one purchase under two event ids.
        case purchaseGrantedTwice = "purchase_granted_twice"
        /// A submission is answered with a grant that is not there.
        case answerWithoutGrant = "answer_without_grant"
        /// A submission is answered with another user's or another app's grant.
        case answerOfAnotherUser = "answer_of_another_user"
        /// A grant's event is on its topic, and its fulfilment call is still owed.
        case toldBeforeCall = "told_before_call"
        /// The outbox owes the event of a row that is not there.
        case owedWithoutRow = "owed_without_row"
        /// A row of the outbox has been due for longer than ``AuditLimits/overdue``.
        case overdue
        /// An event differs from its row in the moment of the decision and the attempts alone, as copies do after a
        /// backup. The guarantees allow it, so it breaks nothing.
        case decidedAgain = "decided_again"

        /// Whether a guarantee does not hold.
        public var isBroken: Bool { self != .decidedAgain }
    }

    public let kind: Kind
    public let app: BundleID?
    public let submissionID: SubmissionID?
    public let userID: UserID?
    public let transactionID: TransactionID?
    public let environment: Environment?
    /// The record's partition and offset on its topic.
    public let place: Origin?
    public let eventID: EventID?
    /// All else that is to be said, in one sentence; nil for nothing.
    public let detail: String?
    /// The event that the outbox has to owe for a repair; nil where that repairs nothing.
    public let mend: UntoldEvent?

    init(
        _ kind: Kind, claimant: Claimant? = nil, app: BundleID? = nil, submissionID: SubmissionID? = nil,
        reference: GrantReference? = nil, transactionID: TransactionID? = nil, place: Origin? = nil,
        eventID: EventID? = nil, detail: String? = nil, mend: UntoldEvent? = nil
    ) {
        self.kind = kind
        self.app = claimant?.bundleID ?? app
        self.submissionID = claimant?.submissionID ?? submissionID
        userID = claimant?.userID
        self.transactionID = reference?.transactionID ?? transactionID
        environment = reference?.environment
        self.place = place
        self.eventID = eventID
        self.detail = detail
        self.mend = mend
    }
}

/// Something that the audit was not able to look at. Nothing is said about it.
public struct Unseen: Hashable, Sendable {
    public enum Reason: String, Hashable, Sendable, CaseIterable {
        /// A topic or partition could not be read.
        case unreadable
        /// Records have left a topic again.
        case removed
        /// A topic ends before an offset that was passed: it was made anew, or has lost records.
        case madeAnew = "made_anew"
        /// Rows that only a later version can read.
        case laterVersion = "later_version"
        /// The group has no offset of the topic, and the ledger no checkpoint.
        case neverRead = "never_read"
        /// Answers were pruned, or a user was erased, since they were told.
        case forgotten
        /// A standby may not have come to it yet.
        case behind
        /// More than a named bound of the audit.
        case tooMany = "too_many"
        /// The ledger belongs to another group or cluster.
        case foreignLedger = "foreign_ledger"
    }

    public let reason: Reason
    /// A topic, a partition or a table.
    public let what: String
    /// Records or rows; nil where nobody knows.
    public let count: Int?
    /// In one sentence; nil for nothing.
    public let detail: String?

    init(_ reason: Reason, _ what: String, count: Int? = nil, detail: String? = nil) {
        self.reason = reason
        self.what = what
        self.count = count
        self.detail = detail
    }
}

/// Inconsistencies as they are found. All are counted, and the first are kept.
struct Findings: Sendable {
    private(set) var kept: [Inconsistency] = []
    private(set) var found: [Inconsistency.Kind: Int] = [:]

    mutating func add(_ inconsistency: Inconsistency) {
        found[inconsistency.kind, default: 0] += 1
        if kept.count < AuditLimits.kept { kept.append(inconsistency) }
    }

    mutating func add(_ other: Findings) {
        found.merge(other.found, uniquingKeysWith: +)
        kept += other.kept.prefix(AuditLimits.kept - kept.count)
    }
}
