public import Contract

/// A question to Apple as far as it has come. The core reads its endpoint and hands the rest on.
public struct Question: Sendable {
    public let endpoint: Endpoint
    /// What HTTP and checkers need.
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
    public let rules: Rules
}

/// The end of an ``AttemptTask``.
public struct Answered: Sendable {
    public let token: SubmissionToken
    public let result: AttemptResult
    public let outcome: CallOutcome
    /// How long the call took.
    public let took: Duration

    public init(token: SubmissionToken, result: AttemptResult, outcome: CallOutcome, took: Duration) {
        self.token = token
        self.result = result
        self.outcome = outcome
        self.took = took
    }
}

/// What one call led to.
public enum AttemptResult: Sendable {
    case concluded(Verdict)
    /// Another call is needed: another secret, another page, the other environment. Its endpoint's gate has to let it go.
    case next(Question)
    /// The answer holds signatures, which the checkers verify.
    case check(Question)
}

/// What a call says about its endpoint, whatever it says about the submission.
public enum CallOutcome: Hashable, Sendable {
    /// It answered. A refused key is an answer, too: one app's bad credentials must never stop another app.
    case answered
    /// It could not answer.
    case failed
    /// It could not answer, and fewer calls at once may help.
    case overloaded
    /// It asks not to be called for a while; nil where it does not say for how long.
    case limited(wait: Duration?)
    /// Nothing was learnt: no call was made, or it was given up on our side.
    case unknown
}
