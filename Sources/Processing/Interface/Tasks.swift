public import Contract
public import Ledger

/// Work for a checker thread: parsing, signatures, claim policy.
public struct CheckTask: Sendable {
    /// The kinds of work, each with all that it needs.
    public enum Work: Sendable {
        /// Read a record and check the evidence in it.
        ///
        /// - `known`: the outcome that the ledger has for a record of this origin. If it is this record's
        ///   (``KnownOutcome/isOf(_:_:)``), this is a redelivery: answer ``CheckResult/known``, and check nothing.
        case record(InputRecord, known: KnownOutcome?)
        /// A record whose check has ended workers: quarantine it unread.
        case quarantine(InputRecord, QuarantineReason)
        /// Check the evidence of a row of `retries`.
        case submission(Submission)
        /// Verify Apple's signature on a receipt that is on its way to `retries`.
        ///
        /// - `mayDecide`: verifyReceipt is away, so the signature is enough where the app's rules say that.
        case signature(Submission, mayDecide: Bool)
        /// Verify the signatures in what Apple replied, and conclude.
        case reply(Submission, Question)
    }

    public let token: SubmissionToken
    public let work: Work
    /// The apps file as of now.
    public let apps: AppsSnapshot
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

/// The result of a ``CheckTask/Work``.
public enum CheckResult: Sendable {
    /// No submission can be read from the record. It goes to the quarantine topic as the event, or as the stub if the
    /// topic does not take it.
    case unreadable(Event, QuarantineStub, QuarantineReason.Kind)
    /// The record is that of the known outcome; with the app's rule for copies that a repeat asks for.
    case known(RepeatPolicy)
    /// It names a submission and a user, and breaks the message contract otherwise.
    case malformed(MalformedSubmission)
    /// Of ``CheckTask/Work/record(_:known:)`` and ``CheckTask/Work/submission(_:)``.
    case submission(Submission, DecisionOptions, LocalCheck)
    /// Of ``CheckTask/Work/signature(_:mayDecide:)``: whether it holds, and the verdict where it decides.
    case signature(holds: Bool, Verdict?)
    /// Of ``CheckTask/Work/reply(_:_:)``.
    case reply(AttemptResult)
}

/// The result of checking evidence without a call to Apple.
public enum LocalCheck: Sendable {
    /// Any verdict: evidence that verifies, is rejected, was signed ahead of our clock, or needs a key that the app
    /// lacks.
    case concluded(Verdict)
    /// Apple has to be asked. Before that the ledger is asked, where there is a look-up: a grant that answers it saves
    /// the call.
    ///
    /// - `isSigned`: whether Apple's signature on the evidence holds; nil if that was not looked at.
    case ask(Question, lookUp: GrantLookup?, isSigned: Bool?)
}

/// How one submission is decided, as its app's rules say.
public struct DecisionOptions: Hashable, Sendable {
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

/// A question to Apple at its present step. The core reads its endpoint and hands the rest on.
public struct Question: Sendable {
    public let endpoint: Endpoint
    /// The part that HTTP and checkers read.
    public let content: any Sendable

    public init(endpoint: Endpoint, content: any Sendable) {
        self.endpoint = endpoint
        self.content = content
    }
}

/// One call to Apple, which the endpoint's gate has let go.
public struct AttemptTask: Sendable {
    public let token: SubmissionToken
    public let submission: Submission
    public let question: Question
    /// Attempts that decided nothing so far: a refusal that comes again may be believed.
    public let attempts: Int
    /// The apps file as of now.
    public let apps: AppsSnapshot
}

/// The end of an ``AttemptTask``.
public struct Attempted: Sendable {
    public let token: SubmissionToken
    public let result: AttemptResult
    public let outcome: CallOutcome
    /// How long the call took.
    public let took: Duration
    /// The fault, in words for people without evidence or secrets, if the endpoint did not reply.
    public let fault: String?

    public init(
        token: SubmissionToken, result: AttemptResult, outcome: CallOutcome, took: Duration, fault: String? = nil
    ) {
        self.fault = fault
        self.token = token
        self.result = result
        self.outcome = outcome
        self.took = took
    }
}

/// The result of one call.
public enum AttemptResult: Sendable {
    case concluded(Verdict)
    /// Another call is needed: another secret, another page, the other environment. Its endpoint's gate has to let it
    /// go.
    case next(Question)
    /// The reply holds signatures, which the checkers verify.
    case check(Question)
}

/// The apps file as it is at one time: an immutable snapshot that the core attaches to checks and attempts.
public final class AppsSnapshot: Sendable {
    /// Counts the snapshots, from 1.
    public let version: Int
    /// Apple's endpoints that submissions of these apps may need.
    public let endpoints: [EndpointLimit]
    public let services: [ServiceLimit]
    /// The part that HTTP and checkers read; the core does not.
    public let content: any Sendable

    public init(version: Int, endpoints: [EndpointLimit], services: [ServiceLimit], content: any Sendable) {
        self.version = version
        self.endpoints = endpoints
        self.services = services
        self.content = content
    }
}

/// How much an app's fulfilment service may be called.
public struct ServiceLimit: Hashable, Sendable {
    public let bundleID: BundleID
    /// Most calls at once from this worker.
    public let calls: Int

    public init(_ bundleID: BundleID, calls: Int) {
        self.bundleID = bundleID
        self.calls = calls
    }
}

/// How much an endpoint may be asked.
public struct EndpointLimit: Hashable, Sendable {
    public let endpoint: Endpoint
    /// Calls a second; nil where Apple names no limit.
    public let rate: Double?

    public init(endpoint: Endpoint, rate: Double? = nil) {
        self.endpoint = endpoint
        self.rate = rate
    }
}
