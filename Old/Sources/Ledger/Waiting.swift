public import Purchases

/// Why a submission waits in the ledger.
public enum WaitingCause: Hashable, Sendable {
    /// Apple cannot tell yet. Tried again until it can.
    case parked(RetryCause)
    /// Our own side is at fault, or a person must decide. Tried again now and then; people should look.
    case held(HoldCause)

    /// The outcome that stands in the ledger meanwhile.
    public var outcome: RecordedOutcome {
        switch self {
        case .parked: .parked
        case .held: .held
        }
    }

    /// One word: the `reason` of the submission's row.
    public var word: String {
        switch self {
        case .parked(let cause): cause.rawValue
        case .held(let cause): cause.rawValue
        }
    }

    /// The cause that a row tells of; nil for outcomes that wait for nothing. A word that a newer version wrote counts as
    /// the least that it can mean: while versions are mixed, neither may stop the other.
    public init?(outcome: RecordedOutcome, word: String) {
        switch outcome {
        case .parked: self = .parked(RetryCause(rawValue: word) ?? .noAnswer)
        case .held: self = .held(HoldCause(rawValue: word) ?? .unknownAnswer)
        case .granted, .failed: return nil
        }
    }
}

/// A try that decided nothing.
public struct Attempt: Hashable, Sendable {
    public let at: Timestamp
    /// One word, as in metrics.
    public let cause: String
    /// One sentence; holds no evidence, token or secret.
    public let detail: String

    /// A try by its end.
    public init(at: Timestamp, cause: String, detail: String) {
        self.at = at
        self.cause = cause
        self.detail = detail
    }
}

/// The tries of one submission that decided nothing: the first ones and the latest, in order.
public struct AttemptHistory: Hashable, Sendable {
    /// So many of the first tries are kept, whatever comes after them.
    public static let maxFirst = 10
    /// So many of the latest tries are kept.
    public static let maxLatest = 40

    public private(set) var attempts: [Attempt]

    /// A history as it was kept.
    public init(_ attempts: [Attempt] = []) {
        self.attempts = attempts
    }

    /// Adds a try; one between the first and the latest goes where there are too many.
    public mutating func add(_ attempt: Attempt) {
        attempts.append(attempt)
        if attempts.count > Self.maxFirst + Self.maxLatest { attempts.remove(at: Self.maxFirst) }
    }
}

/// A submission as the ledger keeps it until it can be decided: all that another try needs, on whichever worker.
///
/// A class, because few submissions wait, and every submission's decision and row would be as large as this.
public final class Waiting: Sendable {
    public let cause: WaitingCause
    /// One sentence for people.
    public let detail: String
    /// What is claimed, evidence included.
    public let submission: Submission
    /// Time from now until it is due.
    public let delay: Duration
    /// Since when Apple's answer has been a "no" that may not be its last word; nil if it is none.
    public let doubtSince: Timestamp?

    /// A submission that waits.
    public init(
        _ cause: WaitingCause, detail: String, submission: Submission, delay: Duration, doubtSince: Timestamp? = nil
    ) {
        self.cause = cause
        self.detail = detail
        self.submission = submission
        self.delay = delay
        self.doubtSince = doubtSince
    }
}

extension Waiting: Hashable {
    /// By all that they hold.
    public static func == (left: Waiting, right: Waiting) -> Bool {
        left.cause == right.cause && left.detail == right.detail && left.submission == right.submission
            && left.delay == right.delay && left.doubtSince == right.doubtSince
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(cause)
        hasher.combine(submission)
    }
}

/// A submission that was due and is this worker's for a while.
public struct DueSubmission: Hashable, Sendable {
    /// Bytes of claims, evidence included, after which no more is taken at once, however many more are wanted: one row can
    /// have 2 MiB. The one that reaches it is still taken, so that the largest is.
    public static let maxTakenBytes = 8 << 20

    /// What is claimed; nil if this version cannot read what another one wrote. It comes due again for the next worker.
    public let submission: Submission?
    public let claimant: Claimant
    public let fingerprint: String
    public let origin: Origin
    public let receivedAt: Timestamp
    /// Tries so far.
    public let attempts: Int
    public let history: AttemptHistory
    /// Why it waited.
    public let cause: WaitingCause
    public let doubtSince: Timestamp?

    /// A submission as read from the ledger.
    public init(
        submission: Submission?, claimant: Claimant, fingerprint: String, origin: Origin, receivedAt: Timestamp,
        attempts: Int, history: AttemptHistory, cause: WaitingCause, doubtSince: Timestamp?
    ) {
        self.submission = submission
        self.claimant = claimant
        self.fingerprint = fingerprint
        self.origin = origin
        self.receivedAt = receivedAt
        self.attempts = attempts
        self.history = history
        self.cause = cause
        self.doubtSince = doubtSince
    }

    /// The submission's name in the ledger.
    public var key: SubmissionKey {
        SubmissionKey(bundleID: claimant.bundleID, submissionID: claimant.submissionID)
    }
}
