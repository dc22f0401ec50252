import AppStore
import Logging
import Purchases

/// Verifies one submission: on the spot where that is possible, else by asking Apple as often as an exchange needs, and
/// concludes with a verdict.
///
/// A class, because thousands of tasks have it.
final class Verifier: Sendable {
    let apps: AppRegistry
    let signatures: SignatureVerifiers
    let endpoint: any AppStoreEndpoint
    /// Every call asks here first.
    let apple: AppleAvailability
    let clock: any WorkerClock
    let metrics: PipelineMetrics
    let alerts: AlertThrottle
    let logger: Logger

    init(
        apps: AppRegistry, signatures: SignatureVerifiers, endpoint: any AppStoreEndpoint, apple: AppleAvailability,
        clock: any WorkerClock, metrics: PipelineMetrics, alerts: AlertThrottle, logger: Logger
    ) {
        self.apps = apps
        self.signatures = signatures
        self.endpoint = endpoint
        self.apple = apple
        self.clock = clock
        self.metrics = metrics
        self.alerts = alerts
        self.logger = logger
    }

    /// Evidence that was looked at and can be brought before Apple, any number of times. Holds the evidence once, and
    /// nothing else of any size: thousands of cases wait at a time. A class, because each task that waits would hold several
    /// copies of a value.
    final class Case: Sendable {
        let registered: RegisteredApp
        /// What is claimed, without the evidence.
        let claim: Submission
        let receivedAt: Timestamp
        fileprivate let question: Question

        fileprivate init(
            registered: RegisteredApp, claim: Submission, receivedAt: Timestamp, question: Question
        ) {
            self.registered = registered
            self.claim = claim
            self.receivedAt = receivedAt
            self.question = question
        }
    }

    /// Indirect, because each task that waits has copies of it.
    fileprivate indirect enum Question: Sendable {
        case verifyReceipt(ReceiptQuestion)
        case lookup(TransactionLookup.Question, ServerAPIAccess, evidence: Evidence)
        /// To be looked at again: what it waits for is not Apple's answer.
        case again(Evidence)
    }

    /// What a first look at the evidence leads to, without asking anybody.
    enum Opening: Sendable {
        case ask(Case)
        case concluded(Verdict)
    }

    /// Looks at the evidence: what is garbage is rejected, and what Apple signed is judged, at no cost to Apple. What is
    /// concluded is final; where the look leads to waiting, the case is asked about as often as it has to be.
    func open(_ submission: Submission, receivedAt: Timestamp) -> Opening {
        let opening = look(at: submission, receivedAt)
        guard case .concluded(let verdict) = opening, !verdict.isFinal, let registered = apps[submission.bundleID]
        else { return opening }
        return .ask(
            Case(
                registered: registered, claim: submission.claim, receivedAt: receivedAt,
                question: .again(submission.evidence.alone)))
    }

    private func look(at submission: Submission, _ receivedAt: Timestamp) -> Opening {
        guard let registered = apps[submission.bundleID] else {
            return .concluded(.rejected(Rejection(.unknownApp, "No app with this bundle id is configured.")))
        }
        switch submission.evidence {
        case .receipt(let base64): return open(receipt: base64, submission, registered, receivedAt)
        case .signedTransaction(let text): return open(signed: text, submission, registered, receivedAt)
        case .transactionID(let id): return lookUp(.transaction(id), submission, registered, receivedAt)
        }
    }

    private func open(
        receipt base64: EvidenceText, _ submission: Submission, _ registered: RegisteredApp, _ receivedAt: Timestamp
    ) -> Opening {
        let text: ReceiptText
        let receipt: AppReceipt
        do throws(AppReceiptError) {
            text = try ReceiptText(base64)
            receipt = try AppReceipt(der: text.bytes)
        } catch {
            return .concluded(.rejected(Rejection(.receiptMalformed, error.detail)))
        }
        if let rejection = receipt.contradiction(with: registered.app) { return .concluded(.rejected(rejection)) }
        if registered.receipts == .verifyReceipt {
            return .ask(
                Case(
                    registered: registered, claim: submission.claim, receivedAt: receivedAt,
                    question: .verifyReceipt(
                        ReceiptQuestion(
                            text, secret: registered.sharedSecrets.first, mark: ReceiptMark(of: receipt)))))
        }
        do throws(ReceiptSignatureError) {
            try signatures.receipts.verify(receipt)
        } catch {
            return .concluded(error.verdict)
        }
        if registered.receipts == .serverAPI {
            guard let question = receipt.lookup(for: submission) else {
                return .concluded(
                    .rejected(
                        Rejection(
                            .transactionNotFound, "The receipt holds no purchases.",
                            transactionID: submission.transactionID, productID: submission.productID)))
            }
            return lookUp(question, submission, registered, receivedAt)
        }
        let judge = LocalReceiptJudge(app: registered.app, submission: submission, receivedAt: receivedAt)
        return .concluded(judge.verdict(on: receipt))
    }

    private func open(
        signed text: EvidenceText, _ submission: Submission, _ registered: RegisteredApp, _ receivedAt: Timestamp
    ) -> Opening {
        let transaction: SignedTransaction
        do throws(SignedTransactionError) {
            transaction = try signatures.transactions.verify(text, now: clock.now())
        } catch {
            return .concluded(error.verdict)
        }
        let judge = SignedTransactionJudge(app: registered.app, submission: submission, receivedAt: receivedAt)
        let verdict = judge.verdict(on: transaction, by: .signedTransaction)
        guard let age = registered.confirmsOlderThan, case .verified = verdict,
            case .success(let purchase) = transaction.purchase, receivedAt.since(transaction.signedAt) > age
        else { return .concluded(verdict) }
        // Signed long ago: what Apple took back since is not in it.
        return lookUp(
            .confirmation(purchase.transactionID, purchase.environment, since: transaction.signedAt), submission,
            registered, receivedAt)
    }

    private func lookUp(
        _ question: TransactionLookup.Question, _ submission: Submission, _ registered: RegisteredApp,
        _ receivedAt: Timestamp
    ) -> Opening {
        guard let access = registered.serverAPI else {
            return .concluded(
                .hold(
                    .credentialsMissing,
                    detail: "The App Store Server API must be asked, and the app has no key for it."))
        }
        return .ask(
            Case(
                registered: registered, claim: submission.claim, receivedAt: receivedAt,
                question: .lookup(question, access, evidence: submission.evidence.alone)))
    }

    /// Where a task that brings the case before Apple had best run: where the answer comes in. What is looked at again is
    /// work for all cores, as the first look was.
    func executor(for opened: Case) -> (any TaskExecutor)? {
        switch opened.question {
        case .verifyReceipt, .lookup: endpoint.executor
        case .again: nil
        }
    }

    /// Brings a case before Apple once, as soon as Apple can be asked.
    ///
    /// - Parameters:
    ///   - isRetry: whether the case was brought before Apple already.
    ///   - asker: where the case comes from: how many others may wait for what is away, for this one to wait there, too.
    /// - Returns: nil if there was no such moment before the worker stopped: no attempt was made.
    func verify(_ opened: Case, isRetry: Bool, asker: Asker) async -> TryResult? {
        switch opened.question {
        case .verifyReceipt(let question): await verifyReceipt(question, opened, isRetry, asker)
        case .lookup(let question, let access, _): await lookUp(question, access, opened, isRetry, asker)
        case .again(let evidence): await lookAgain(at: evidence, opened, asker)
        }
    }

    private func lookAgain(at evidence: Evidence, _ opened: Case, _ asker: Asker) async -> TryResult? {
        switch look(at: opened.claim.with(evidence), opened.receivedAt) {
        case .concluded(let verdict): .verdict(verdict, by: nil)
        // What it waited for has come, and now Apple must be asked.
        case .ask(let next): await verify(next, isRetry: false, asker: asker)
        }
    }

    /// The first time that a case from the input topic is brought before Apple, if it needs no task: it is begun, and tells what
    /// ``verify(_:isRetry:asker:)`` would return. Nil if it needs one.
    func firstTry(of opened: Case) -> VerifyReceiptTry? {
        guard case .verifyReceipt(let question) = opened.question else { return nil }
        return VerifyReceiptTry(question, of: opened, by: self, isRetry: false, asker: .topic)
    }

    private func verifyReceipt(
        _ question: ReceiptQuestion, _ opened: Case, _ isRetry: Bool, _ asker: Asker
    ) async -> TryResult? {
        let receiptTry = VerifyReceiptTry(question, of: opened, by: self, isRetry: isRetry, asker: asker)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                receiptTry.begin { continuation.resume(returning: $0) }
            }
        } onCancel: {
            receiptTry.giveUp()
        }
    }

    private func lookUp(
        _ question: TransactionLookup.Question, _ access: ServerAPIAccess, _ opened: Case, _ isRetry: Bool,
        _ asker: Asker
    ) async -> TryResult? {
        var lane: CallLine.Lane = isRetry ? .again : .first
        let bundleID = opened.registered.app.bundleID
        var lookup = TransactionLookup(
            app: opened.registered.app, submission: opened.claim, receivedAt: opened.receivedAt, question: question,
            transactions: signatures.transactions)
        var step = lookup.start()
        var used: BearerToken?
        var asked: CallTarget?
        while true {
            switch step {
            case .conclude(let verdict): return .verdict(verdict, by: asked)
            case .call(let environment, let request, let freshToken, let isFresh):
                // Before all waiting: others are not to be refused with the same token meanwhile.
                if freshToken, let used { access.mint.refused(used) }
                // The permit first: moments that the budget gave before an outage would all have come at its end.
                let target = CallTarget.serverAPI(environment, bundleID)
                let turn = await apple.turn(for: target, lane, asker)
                if case .crowded(let awayFor) = turn { return .notAsked(awayFor: awayFor) }
                guard let permit = turn.permit else { return nil }
                asked = target
                if let verdict = await waitForTurn(
                    access, environment, request.endpoint, isOnTheWay: lane == .goingOn)
                {
                    apple.ended(permit, .unknown, isRetry: isRetry, took: .zero)
                    return .verdict(verdict, by: target)
                }
                guard let token = access.mint.token(now: clock.now()) else {
                    apple.ended(permit, .unknown, isRetry: isRetry, took: .zero)
                    return .verdict(
                        .hold(.credentialsRefused, detail: "No token can be signed with the app's key."), by: nil)
                }
                lane = .goingOn
                used = token
                let started = clock.elapsed()
                let reply = await endpoint.serverAPI(environment, request, bearer: token, isFresh: isFresh)
                let took = called(environment, reply, since: started)
                pauseIfAsked(reply, access, environment, request.endpoint)
                let now = clock.now()
                step = lookup.answered(reply, now: now)
                apple.ended(
                    permit, CallOutcome(reply, from: .serverAPI, concluded: step.verdict, now: now),
                    isRetry: isRetry, took: took)
            }
        }
    }

    /// Waits for the moment that the budget gives.
    ///
    /// - Returns: nil when it has come; else what follows from having to wait longer.
    private func waitForTurn(
        _ access: ServerAPIAccess, _ environment: Environment, _ endpoint: ServerAPIRequest.Endpoint, isOnTheWay: Bool
    ) async -> Verdict? {
        // Once more for each pause that Apple asks for meanwhile; a long one is too long to be waited for here.
        while true {
            let elapsed = clock.elapsed()
            switch access.reserve(environment, endpoint, elapsed: elapsed, isOnTheWay: isOnTheWay) {
            case .full(let moment):
                return .retry(
                    .budgetSpent, notBefore: clock.now().advanced(by: moment - elapsed), patience: .unlimited)
            case .at(let moment):
                guard moment > elapsed else { return nil }
                do {
                    try await clock.sleep(for: moment - elapsed)
                } catch {
                    // The worker stops; whoever asked looks at that first.
                    return .retry(.budgetSpent, notBefore: nil, patience: .unlimited)
                }
                guard access.isPaused(environment, endpoint, elapsed: clock.elapsed()) else { return nil }
            }
        }
    }

    private func pauseIfAsked(
        _ reply: AppStoreReply, _ access: ServerAPIAccess, _ environment: Environment,
        _ endpoint: ServerAPIRequest.Endpoint
    ) {
        let now = clock.now()
        guard let end = reply.pause(now: now) else { return }
        access.close(environment, endpoint, until: clock.elapsed() + end.since(now))
    }

    /// Notes that a call is over.
    ///
    /// - Returns: how long it took.
    func called(_ environment: Environment, _ reply: AppStoreReply, since started: Duration) -> Duration {
        let took = clock.elapsed() - started
        metrics.called(environment, reply, took: took)
        if case .failed(let failure) = reply { warn(environment, failure) }
        return took
    }

    /// Notes that an answer was about another receipt than the one that was sent.
    func warnOfOtherReceipt(_ environment: Environment) {
        guard let count = alerts.count("\(environment.rawValue).otherReceipt", at: clock.elapsed()) else { return }
        logger.error(
            "Apple answered about another receipt than the one it was sent, so it seems; it is asked again",
            metadata: ["environment": "\(environment.rawValue)", "calls": "\(count)"])
    }

    private func warn(_ environment: Environment, _ failure: TransportFailure) {
        guard failure != .cancelled,
            let count = alerts.count("\(environment.rawValue).\(failure.rawValue)", at: clock.elapsed())
        else { return }
        logger.warning(
            "Apple does not answer; submissions are tried again until it does",
            metadata: ["environment": "\(environment.rawValue)", "cause": "\(failure.rawValue)", "calls": "\(count)"])
    }
}

extension Verifier.Case {
    /// The evidence, to be kept in the ledger.
    var evidence: Evidence {
        switch question {
        case .verifyReceipt(let question): .receipt(base64: EvidenceText(question.base64[...]))
        case .lookup(_, _, let evidence), .again(let evidence): evidence
        }
    }
}

extension Verdict {
    /// Whether it settles the submission.
    fileprivate var isFinal: Bool {
        switch self {
        case .verified, .rejected: true
        case .retry, .hold: false
        }
    }
}

extension TransactionLookup.Step {
    /// What the try ended with, if it ended.
    fileprivate var verdict: Verdict? {
        guard case .conclude(let verdict) = self else { return nil }
        return verdict
    }
}
