public import Purchases

/// One try to verify one submission's receipt: which calls to make, and what their answers amount to.
///
/// Makes no calls itself. `start()` and every `answered(_:now:)` say what is next, until a verdict ends it. It makes at
/// most one call per endpoint and secret.
///
/// - The production endpoint is asked first, as Apple advises, whatever the submission or the receipt claim about the
///   environment: both are unauthenticated, and attribute 0 is not documented. 21007 leads to the sandbox, once.
/// - 21004 leads to the next shared secret. With none left the submission is held: the player cannot help it.
public struct VerifyReceiptExchange: Sendable {
    /// What to do next.
    public enum Step: Hashable, Sendable {
        /// Post a ``VerifyReceiptRequest`` with the secret, or without one, to the environment's endpoint, then pass on what
        /// came of it.
        case call(environment: Environment, secret: SharedSecret?)
        /// The try is over.
        case conclude(Verdict)
    }

    private struct Call: Hashable {
        let environment: Environment
        /// Place in the list of secrets; nil where there are none.
        let secret: Int?
    }

    private enum State {
        /// Goes to `asked` or `concluded`.
        case ready
        /// Goes to `asked`, for another call, or to `concluded`.
        case asked(Call)
        /// Final.
        case concluded(Verdict)
    }

    private let app: App
    private let submission: Submission
    private let receivedAt: Timestamp
    private let sharedSecrets: [SharedSecret]
    private var state = State.ready
    /// At most one for each endpoint and secret: looked through sooner than hashed.
    private var made: [Call] = []

    /// A try.
    ///
    /// - Parameters:
    ///   - app: the app that the submission names.
    ///   - receivedAt: when the submission reached the topic; subscriptions are held against it.
    ///   - sharedSecrets: tried in this order; empty sends the receipt without a password.
    public init(
        app: App, submission: Submission, receivedAt: Timestamp, sharedSecrets: [SharedSecret]
    ) {
        self.app = app
        self.submission = submission
        self.receivedAt = receivedAt
        self.sharedSecrets = sharedSecrets
    }

    /// Begins. Called again, it repeats the step that is due.
    public mutating func start() -> Step {
        switch state {
        case .ready: return call(Call(environment: .production, secret: sharedSecrets.indices.first))
        case .asked(let call): return step(for: call)
        case .concluded(let verdict): return .conclude(verdict)
        }
    }

    /// Takes what came of the call that is due. Without one it does what `start()` does.
    ///
    /// - Parameter now: wall-clock time, for moments that Apple names relative to it.
    public mutating func answered(_ reply: AppStoreReply, now: Timestamp) -> Step {
        guard case .asked(let call) = state else { return start() }
        switch ReplyReading(reply, now: now) {
        case .noAnswer(let verdict): return conclude(verdict)
        case .answer(let response): return take(response, to: call)
        }
    }

    private mutating func take(_ response: VerifyReceiptResponse, to call: Call) -> Step {
        switch VerifyReceiptStatus.disposition(of: response.status) {
        case .authentic:
            let judge = AnswerJudge(app: app, submission: submission, receivedAt: receivedAt)
            return conclude(judge.verdict(on: response, from: call.environment))
        case .belongs(let environment): return hop(to: environment, from: call, status: response.status)
        case .sharedSecretRefused: return tryNextSecret(after: call)
        case let refusal: return conclude(RefusalVerdict.of(refusal, response))
        }
    }

    /// The only hop leads from production to the sandbox. Any other would lead back to an endpoint that has already denied
    /// the receipt, or to the same one, as Apple's sandbox has been seen to answer: a fault of Apple's, which passes.
    private mutating func hop(to environment: Environment, from call: Call, status: Int) -> Step {
        guard call.environment == .production, environment == .sandbox else {
            return conclude(.retry(.temporarilyUnable, notBefore: nil, patience: .unlimited))
        }
        guard app.sandbox.allows(submission.userID) else {
            return conclude(
                .rejected(
                    Rejection(
                        .environmentNotAllowed,
                        "A sandbox receipt (status \(status)); this app does not grant this user's sandbox purchases.",
                        transactionID: submission.transactionID, productID: submission.productID)))
        }
        return self.call(Call(environment: environment, secret: call.secret))
    }

    private mutating func tryNextSecret(after call: Call) -> Step {
        let next = sharedSecrets.indices.lazy.map { Call(environment: call.environment, secret: $0) }
            .first { !made.contains($0) }
        guard let next else {
            let detail =
                sharedSecrets.isEmpty
                ? "verifyReceipt needs a shared secret and none is configured for the app."
                : "verifyReceipt refused every shared secret of the app."
            return conclude(.hold(.sharedSecretRefused, detail: detail))
        }
        return self.call(next)
    }

    private mutating func call(_ call: Call) -> Step {
        made.append(call)
        state = .asked(call)
        return step(for: call)
    }

    private func step(for call: Call) -> Step {
        .call(environment: call.environment, secret: call.secret.map { sharedSecrets[$0] })
    }

    private mutating func conclude(_ verdict: Verdict) -> Step {
        state = .concluded(verdict)
        return .conclude(verdict)
    }
}
