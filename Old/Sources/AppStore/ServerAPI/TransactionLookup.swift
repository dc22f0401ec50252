public import Purchases

/// One try to verify a claim with the App Store Server API: which requests to make, and what their answers amount to.
///
/// Makes no calls itself. `start()` and every `answered(_:now:)` say what is next, until a verdict ends it. What Apple
/// answers is believed because its signature is verified, not because of the connection it came over.
///
/// - Where the environment is not known, production is asked first, as Apple advises, and the sandbox once production
///   does not have the transaction. The submission's own word on the environment does not change the order: it is the
///   client's, and a sandbox that anybody could have asked first would be out of requests ten times sooner than
///   production.
/// - The sandbox is asked only if the app grants this user's sandbox purchases. If it does not, nothing that the
///   sandbox knows could be granted; what production does not have may still reach its records, so it is "not found
///   yet".
/// - An id that Apple never gave out ends the submission, and nobody signs that answer: it may be somebody else's, on a connection
///   where a server or something in between answered twice. So it is asked for once more, over a fresh one. Where Apple signed
///   the id before, a person must look.
/// - Nothing in a history's page tells whose it is where it holds none of the ids that the receipt proves. The first page leads to
///   the others, and each of those is asked for over a fresh connection, so that none can be another customer's.
/// - 401 is answered once with a fresh token. Production answers 401 to apps that were never released, too, so after
///   that the sandbox is asked; if that knows the transaction, the key is good. Else production's word is missing, and
///   nothing is settled against the player.
public struct TransactionLookup: Sendable {
    /// What is looked up.
    public enum Question: Hashable, Sendable {
        /// A transaction, wherever it was made.
        case transaction(TransactionID)
        /// A transaction that is known to be of one environment, as Apple knows it since the moment at which it signed it.
        case confirmation(TransactionID, Environment, since: Timestamp)
        /// All that a customer bought.
        case history(of: ProvenCustomer)
    }

    /// What to do next.
    public enum Step: Hashable, Sendable {
        /// Send this request, then pass on what came of it.
        ///
        /// - Parameters:
        ///   - freshToken: the token before was refused; the mint is to be told before it is asked for one.
        ///   - isFresh: over a connection that was never used before.
        case call(environment: Environment, request: ServerAPIRequest, freshToken: Bool, isFresh: Bool)
        /// The try is over.
        case conclude(Verdict)
    }

    /// Most pages that are read in one try, those that were read in vain included; 20 transactions each.
    static let maxPages = 500
    /// Most times that a history is begun again because it changed while it was read.
    static let maxRestarts = 2
    /// Most calls of one try: the pages, the restarts, one fresh token, one hop, one refusal that is doubted, and the answer that
    /// ends it.
    static let maxCalls = maxPages + maxRestarts + 4

    private struct Call: Hashable {
        let environment: Environment
        /// Where a later page begins; nil for everything else.
        var revision: String?
        var freshToken = false
        var isFresh = false
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
    private let question: Question
    private let attestation: AnswerAttestation
    private var state = State.ready
    private var history = PurchaseHistory()
    private var pages = 0
    private var restarts = 0
    private var renewedToken = false
    private var doubtedRefusal = false
    /// Production took the token at least once.
    private var productionKnowsKey = false
    /// Production refused the key, and what follows is the sandbox's word alone.
    private var productionIsSilent = false

    /// A try.
    ///
    /// - Parameters:
    ///   - app: the app that the submission names.
    ///   - receivedAt: when the submission reached the topic; subscriptions are held against it.
    ///   - transactions: verifies what Apple answers.
    public init(
        app: App, submission: Submission, receivedAt: Timestamp, question: Question,
        transactions: SignedTransactionVerifier
    ) {
        self.app = app
        self.submission = submission
        self.receivedAt = receivedAt
        self.question = question
        attestation = AnswerAttestation(transactions: transactions)
    }

    /// Begins. Called again, it repeats the step that is due.
    public mutating func start() -> Step {
        switch state {
        case .ready:
            guard ServerAPIRequest.isTransactionID(asked.rawValue) else {
                return conclude(
                    .rejected(
                        Rejection(
                            .transactionNotFound, "The transaction id is none of Apple's.",
                            productID: submission.productID)))
            }
            if case .confirmation(_, let environment, _) = question { return call(Call(environment: environment)) }
            return call(Call(environment: .production))
        case .asked(let call): return step(for: call)
        case .concluded(let verdict): return .conclude(verdict)
        }
    }

    /// Takes what came of the call that is due. Without one it does what `start()` does.
    ///
    /// - Parameter now: wall-clock time, for moments that Apple names relative to it, and for signatures.
    public mutating func answered(_ reply: AppStoreReply, now: Timestamp) -> Step {
        guard case .asked(let call) = state else { return start() }
        switch ServerAPIReading(reply, now: now) {
        case .noAnswer(let verdict): return conclude(verdict)
        case .refused(let refusal): return take(refusal, of: call)
        case .answer(let body):
            if call.environment == .production { productionKnowsKey = true }
            if case .history = question { return takePage(body, of: call, now: now) }
            return takeTransaction(body, of: call, now: now)
        }
    }

    // MARK: Answers

    private mutating func takeTransaction(_ body: [UInt8], of call: Call, now: Timestamp) -> Step {
        guard let answer = TransactionAnswer(json: body) else { return conclude(ServerAPIReading.unreadable) }
        let transaction: SignedTransaction
        do throws(AnswerAttestation.Distrust) {
            transaction = try attestation.transaction(
                answer.signedTransactionInfo, as: asked, from: call.environment, now: now)
        } catch {
            return conclude(error.verdict)
        }
        if case .confirmation(_, _, let moment) = question, transaction.signedAt < moment {
            return conclude(
                .hold(.unknownAnswer, detail: "Apple's answer was signed before what it is to confirm."))
        }
        let judge = SignedTransactionJudge(app: app, submission: submission, receivedAt: receivedAt)
        return conclude(judge.verdict(on: transaction, by: .serverAPI))
    }

    private mutating func takePage(_ body: [UInt8], of call: Call, now: Timestamp) -> Step {
        guard let page = HistoryAnswer(json: body) else { return conclude(ServerAPIReading.unreadable) }
        do throws(AnswerAttestation.Distrust) {
            let transactions = try attestation.transactions(
                of: page, app: app.bundleID, from: call.environment, now: now)
            for transaction in transactions { history.add(transaction) }
        } catch {
            return conclude(error.verdict)
        }
        pages += 1
        guard page.hasMore else {
            guard isOfCustomer else {
                return conclude(
                    .hold(.unknownAnswer, detail: "Apple's history shares no transaction with the receipt."))
            }
            return conclude(history.verdict(app: app, submission: submission, receivedAt: receivedAt))
        }
        guard pages < Self.maxPages, !history.isTooLong, let next = page.revision, next != call.revision else {
            return conclude(.hold(.unknownAnswer, detail: "Apple's history does not come to an end."))
        }
        return self.call(Call(environment: call.environment, revision: next))
    }

    /// Whether the history may be the one that was asked for; one that is empty tells nothing.
    private var isOfCustomer: Bool {
        guard case .history(let customer) = question else { return true }
        return history.isEmpty || history.holdsAny(of: customer)
    }

    // MARK: Refusals

    private mutating func take(_ refusal: ServerAPIRefusal, of call: Call) -> Step {
        switch refusal.disposition {
        case .tokenRefused: return tokenRefused(refusal, call)
        case .notFound where call.revision != nil:
            // It had a page of it a moment ago.
            return conclude(.retry(.temporarilyUnable, notBefore: nil, patience: .unlimited))
        case .notFound where maySwitch(from: call): return switchToSandbox()
        case .notFound where isOpen && call.environment == .production:
            return conclude(
                refusal.notFoundYet(
                    asked, submission.productID,
                    because: "Production knows no such transaction, and the app grants this user no sandbox purchases"))
        case .restartPaging where call.revision != nil && restarts < Self.maxRestarts:
            restarts += 1
            history = PurchaseHistory()
            return self.call(Call(environment: call.environment))
        case .rejected: return believe(refusal, of: call)
        default: return conclude(refusal.verdict(on: asked, submission.productID))
        }
    }

    private mutating func believe(_ refusal: ServerAPIRefusal, of call: Call) -> Step {
        if !doubtedRefusal {
            doubtedRefusal = true
            var again = call
            again.freshToken = false
            again.isFresh = true
            return self.call(again)
        }
        guard case .transaction = question else {
            return conclude(
                .hold(.unknownAnswer, detail: "The App Store Server API does not take an id that Apple has signed."))
        }
        return conclude(refusal.verdict(on: asked, submission.productID))
    }

    private mutating func tokenRefused(_ refusal: ServerAPIRefusal, _ call: Call) -> Step {
        if !renewedToken {
            renewedToken = true
            var again = call
            again.freshToken = true
            return self.call(again)
        }
        if maySwitch(from: call), !productionKnowsKey {
            productionIsSilent = true
            return switchToSandbox()
        }
        return conclude(refusal.verdict(on: asked, submission.productID))
    }

    private func maySwitch(from call: Call) -> Bool {
        isOpen && call.environment == .production && app.sandbox.allows(submission.userID)
    }

    /// Whether the environment is not known beforehand.
    private var isOpen: Bool {
        if case .confirmation = question { false } else { true }
    }

    private mutating func switchToSandbox() -> Step {
        history = PurchaseHistory()
        return call(Call(environment: .sandbox))
    }

    // MARK: Steps

    private var asked: TransactionID {
        switch question {
        case .transaction(let id), .confirmation(let id, _, _): id
        case .history(let customer): customer.transactionID
        }
    }

    /// Spares pages of other products. Only for a product of the catalogue: one from the message may be none, which
    /// Apple refuses as our fault. Not where one transaction is claimed: that it is of another product is worth knowing.
    /// And not where the receipt names no purchase of it: nothing in what comes would tell whose history it is.
    private func filter(for customer: ProvenCustomer) -> ProductID? {
        guard submission.transactionID == nil, let product = submission.productID, app.products?[product] != nil,
            customer.productID == product
        else { return nil }
        return product
    }

    private func step(for call: Call) -> Step {
        let request: ServerAPIRequest =
            switch question {
            case .transaction(let id), .confirmation(let id, _, _): .transaction(id)
            case .history(let customer):
                .history(customer.transactionID, product: filter(for: customer), revision: call.revision)
            }
        return .call(
            environment: call.environment, request: request, freshToken: call.freshToken,
            isFresh: call.isFresh || call.revision != nil)
    }

    private mutating func call(_ call: Call) -> Step {
        state = .asked(call)
        return step(for: call)
    }

    private mutating func conclude(_ verdict: Verdict) -> Step {
        let verdict = productionIsSilent && verdict.isDoubt ? Self.keyVerdict : verdict
        state = .concluded(verdict)
        return .conclude(verdict)
    }

    private static let keyVerdict = Verdict.hold(
        .credentialsRefused,
        detail: "The App Store Server API refuses the app's key in production (HTTP status 401), not in the sandbox.")
}

extension Verdict {
    /// Whether time alone would settle it against the submission.
    fileprivate var isDoubt: Bool {
        switch self {
        case .retry(_, _, .window), .retry(_, _, .tries): true
        case .retry, .verified, .rejected, .hold: false
        }
    }
}
