public import Contract
public import Ledger

/// Work for a checker thread: parsing, signatures, claim policy.
public struct CheckTask: Sendable {
    public enum Work: Sendable {
        /// Read a record and check the evidence in it.
        ///
        /// - `known`: the outcome that the ledger has for a record at this place. If the record is of the same app,
        ///   submission and user, it is a redelivery: answer ``CheckResult/known``, and check nothing.
        case record(InputRecord, known: KnownOutcome?)
        /// A record whose check has ended its worker before: quarantine it unread.
        case quarantine(InputRecord, reason: String)
        /// Check the evidence of a row of `retries`.
        case submission(Submission)
        /// Verify Apple's signature on a receipt that is on its way to `retries`.
        ///
        /// - `mayDecide`: verifyReceipt is away, so the signature is enough where the app's rules say that.
        case signature(Submission, mayDecide: Bool)
        /// Verify the signatures in what Apple answered, and conclude.
        case answer(Submission, Question)
    }

    public let token: SubmissionToken
    public let work: Work
    /// The apps file as of now.
    public let rules: Rules
}

/// The end of a ``CheckTask``.
public struct Checked: Sendable {
    public let token: SubmissionToken
    public let result: CheckResult

    public init(token: SubmissionToken, result: CheckResult) {
        self.token = token
        self.result = result
    }
}

public enum CheckResult: Sendable {
    /// No submission can be read from the record: its event for the quarantine topic, and what is kept if that does not take it.
    case unreadable(Event, QuarantineStub)
    /// The record is the one that has its outcome, with what its app's rules say about copies that a repeat asks for.
    case known(RepeatPolicy)
    /// It names a submission and a user, and breaks the message contract otherwise.
    case malformed(MalformedSubmission)
    /// Of ``CheckTask/Work/record(_:known:)`` and ``CheckTask/Work/submission(_:)``.
    case submission(Submission, SubmissionRules, LocalCheck)
    /// Of ``CheckTask/Work/signature(_:mayDecide:)``: whether it holds, and the verdict where it decides.
    case signature(holds: Bool, Verdict?)
    /// Of ``CheckTask/Work/answer(_:_:)``.
    case answer(AttemptResult)
}

/// What can be said of evidence without asking Apple.
public enum LocalCheck: Sendable {
    /// Any verdict: evidence that verifies, is rejected, was signed ahead of our clock, or needs a key that the app has not.
    case concluded(Verdict)
    /// Apple has to be asked. Before that the ledger is, where there is a look-up: a grant that answers it spares the call.
    ///
    /// - `isSigned`: whether Apple's signature on the evidence holds; nil if that was not looked at.
    case ask(Question, lookUp: GrantLookup?, isSigned: Bool?)
}

/// What an app's rules say about the further way of one submission.
public struct SubmissionRules: Hashable, Sendable {
    /// The app's fulfilment service must hear of each new grant before its event.
    public var owesCall: Bool
    public var repeats: RepeatPolicy
    /// A receipt claimed without `transactionId`: if nothing in it is new, that is a doubt first.
    public var doubtsNothingNew: Bool

    public init(owesCall: Bool = false, repeats: RepeatPolicy = .publish, doubtsNothingNew: Bool = false) {
        self.owesCall = owesCall
        self.repeats = repeats
        self.doubtsNothingNew = doubtsNothingNew
    }
}
