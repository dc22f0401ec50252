public import Purchases

/// One try to verify one submission's receipt: which calls to make, and what their answers amount to.
///
/// Makes no calls itself. `start()` and every `answered(_:now:)` say what is next, until a verdict ends it. It makes at
/// most one call per endpoint and secret, and one more in all.
///
/// - The production endpoint is asked first, as Apple advises, whatever the submission or the receipt claim about the
///   environment: both are unauthenticated, and attribute 0 is not documented. 21007 leads to the sandbox, once.
/// - 21004 leads to the next shared secret. With none left the submission is held: the player cannot help it.
/// - An answer may be somebody else's: where a server, or something in between, once answers twice, every later request on that
///   connection gets the answer of the one before it. What attests the receipt has to name its first purchase and the moment
///   that it was made, since two receipts of one player share purchases. A refusal names nothing, and is doubted where it would
///   be the end and the receipt does not say so itself. So Apple is asked again, once, over a connection that nothing else was asked on: two requests that take turns
///   on a shifted one would each get the other's answer both times. What comes there is believed if it names any of the
///   purchases, says the same of the receipt as before, or refuses it.
public struct VerifyReceiptExchange: Sendable {
    /// What to do next.
    public enum Step: Hashable, Sendable {
        /// Post a ``VerifyReceiptRequest`` with the secret, or without one, to the environment's endpoint, then pass on what
        /// came of it. `isFresh`: over a connection that was never used before.
        case call(environment: Environment, secret: SharedSecret?, isFresh: Bool)
        /// Read the receipt that was sent once more, and pass on what it holds: the answer may be about another.
        case compare
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
        /// Goes to `asked`, for another call, to `doubted` or to `concluded`.
        case asked(Call)
        /// Goes to `asked`, for the same call again, or to `concluded`.
        case doubted(VerifyReceiptResponse, to: Call)
        /// Final.
        case concluded(Verdict)
    }

    private let app: App
    private let submission: Submission
    private let receivedAt: Timestamp
    private let sharedSecrets: [SharedSecret]
    private let sent: ReceiptMark
    private var state = State.ready
    /// At most one for each endpoint and secret, and one more: looked through sooner than hashed.
    private var made: [Call] = []
    private let isRetry: Bool
    /// What was doubted. Since then Apple is asked over connections that were never used before.
    private var doubt: Doubt?

    private enum Doubt: Hashable {
        /// An answer about another receipt, as it seems.
        case answer(AnswerMark)
        /// A refusal that would be the end.
        case refusal
    }

    /// Which receipt an answer is about.
    private struct AnswerMark: Hashable {
        let receiptCreatedAt: Timestamp?
        let transactions: Set<TransactionID>

        init(_ response: VerifyReceiptResponse) {
            receiptCreatedAt = response.receiptCreatedAt
            transactions = Set(response.records.compactMap(\.transactionID))
        }
    }

    /// A try.
    ///
    /// - Parameters:
    ///   - app: the app that the submission names.
    ///   - receivedAt: when the submission reached the topic; subscriptions are held against it.
    ///   - sharedSecrets: tried in this order; empty sends the receipt without a password.
    ///   - sent: what the receipt is known by.
    ///   - isRetry: whether the submission was tried before. What is believed after some tries in a row may end it then.
    public init(
        app: App, submission: Submission, receivedAt: Timestamp, sharedSecrets: [SharedSecret],
        sent: ReceiptMark, isRetry: Bool
    ) {
        self.sent = sent
        self.isRetry = isRetry
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
        case .doubted: return .compare
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

    /// Takes what the receipt that was sent holds. Where that is not due it does what `start()` does.
    ///
    /// - Parameter purchases: empty if it has none or cannot be read, and then the moment counts.
    public mutating func compared(with purchases: [ReceiptPurchase]) -> Step {
        guard case .doubted(let response, let call) = state else { return start() }
        let transactions = Set(purchases.flatMap { [$0.transactionID, $0.originalTransactionID].compactMap { $0 } })
        let isNamed =
            transactions.isEmpty
            ? sent.isOfMoment(response) : response.records.contains { $0.isAny(of: transactions) }
        let mark = AnswerMark(response)
        if isNamed && isMomentRight(in: response) || doubt == .answer(mark) {
            return judge(response, from: call.environment)
        }
        guard doubt == nil else { return conclude(.retry(.noAnswer, notBefore: nil, patience: .unlimited)) }
        doubt = .answer(mark)
        return self.call(call)
    }

    /// Whether an answer that names a purchase is believed. One over a fresh connection is the receipt's own, even if Apple should
    /// word its moment in another way.
    private func isMomentRight(in response: VerifyReceiptResponse) -> Bool {
        doubt != nil || sent.isOfMoment(response)
    }

    private mutating func judge(_ response: VerifyReceiptResponse, from endpoint: Environment) -> Step {
        let judge = AnswerJudge(app: app, submission: submission, receivedAt: receivedAt)
        return conclude(judge.verdict(on: response, from: endpoint))
    }

    private mutating func take(_ response: VerifyReceiptResponse, to call: Call) -> Step {
        switch VerifyReceiptStatus.disposition(of: response.status) {
        case .authentic:
            guard sent.isNamed(by: response), isMomentRight(in: response) else {
                state = .doubted(response, to: call)
                return .compare
            }
            return judge(response, from: call.environment)
        case .belongs(let environment): return hop(to: environment, from: call, status: response.status)
        case .sharedSecretRefused: return tryNextSecret(after: call)
        case let refusal: return believe(RefusalVerdict.of(refusal, response), of: call)
        }
    }

    /// Concludes with what follows from a refusal, unless it may be somebody else's and would be the end.
    private mutating func believe(_ verdict: Verdict, of call: Call) -> Step {
        let mayBeTheEnd =
            switch verdict {
            case .rejected: true
            // Several in a row are believed, and this one may be the last of them. Those of a whole window are too many to be
            // doubted each.
            case .retry(_, _, .tries): isRetry
            case .verified, .retry, .hold: false
            }
        guard doubt == nil, mayBeTheEnd else { return conclude(verdict) }
        doubt = .refusal
        return self.call(call)
    }

    /// The only hop leads from production to the sandbox. Any other would lead back to an endpoint that has already denied
    /// the receipt, or to the same one, as Apple's sandbox has been seen to answer: a fault of Apple's, which passes.
    private mutating func hop(to environment: Environment, from call: Call, status: Int) -> Step {
        guard call.environment == .production, environment == .sandbox else {
            return conclude(.retry(.temporarilyUnable, notBefore: nil, patience: .unlimited))
        }
        guard app.sandbox.allows(submission.userID) else {
            let verdict = Verdict.rejected(
                Rejection(
                    .environmentNotAllowed,
                    "A sandbox receipt (status \(status)); this app does not grant this user's sandbox purchases.",
                    transactionID: submission.transactionID, productID: submission.productID))
            // The most frequent refusal, and what the receipt says of itself agrees with it.
            return sent.saysSandbox ? conclude(verdict) : believe(verdict, of: call)
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
        .call(
            environment: call.environment, secret: call.secret.map { sharedSecrets[$0] }, isFresh: doubt != nil)
    }

    private mutating func conclude(_ verdict: Verdict) -> Step {
        state = .concluded(verdict)
        return .conclude(verdict)
    }
}
