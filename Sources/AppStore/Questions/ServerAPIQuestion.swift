import Contract

/// The question for a transaction or a history: the next call to the App Store Server API, and the meaning of its
/// reply.
///
/// - If the environment is not known, production is asked first, as Apple advises. The sandbox is asked if production
///   does not have the transaction. The environment in the submission does not change the order, because the client
///   chooses it. The sandbox's rate limit is a tenth of production's, so forged claims would use it up soon.
/// - The sandbox is asked only if the app grants this user's sandbox purchases. Otherwise none of them could be
///   granted. Production may receive the purchase later, so its absence is a doubt.
/// - An id that Apple never issued ends the submission. That reply is unsigned. It may belong to another request if a
///   server or intermediary replied twice on the connection. So the question is asked again over a fresh connection. If
///   Apple attested the id before, a person must decide. Where production said "not here", that may mean "not yet", and
///   the sandbox's refusal means no more.
/// - An id that Apple attested and then does not find is asked for without end, because neither of Apple's two words is
///   the last. The submission is held once that lasts.
/// - An id that neither the receipt nor the history has may be the device's own for one of their purchases. Apple
///   replies with that purchase. The reply counts only if the receipt proves whose purchase it is.
/// - A complete history that lacks a proven purchase of the receipt is a doubt, and the other purchases wait for it.
/// - A history's page names no customer if it holds none of the ids that the receipt proves. The first page leads to
///   the others. Each of those is requested over a fresh connection, so that none can be another customer's.
/// - After a 401 the call is repeated once with a fresh token. Production also replies 401 to apps that were never
///   released, so the sandbox is asked next. If the sandbox knows the transaction, the key is good. Otherwise
///   production's reply is missing, and nothing is decided against the player.
struct ServerAPIQuestion: AppleQuestion {
    enum Target: Hashable, Sendable {
        /// A transaction that somebody claims.
        case transaction(TransactionID)
        /// A transaction as Apple knows it since the moment at which it signed it.
        case confirmation(TransactionID, since: Timestamp)
        /// All that a customer bought.
        case history(of: ProvenCustomer)
    }

    /// Most pages of one reading, 20 transactions each. The purchases in a longer history's latest changes are granted.
    /// Where they do not answer the claim, it is held: Apple has not said no.
    static let maxPages = 500
    /// Most times that a history is begun again because it changed while it was read.
    static let maxRestarts = 2

    /// A reply whose signatures are not checked yet.
    private enum Pending: Sendable {
        case transaction(TransactionReply)
        case page(HistoryReply)
    }

    let subject: QuestionSubject
    let target: Target
    /// The verdict if Apple does not find a purchase that it attested: its signed word says more than that.
    private var former: Verdict?
    /// Whether Apple has attested the id that is asked for.
    private let isAttested: Bool
    /// The customer whose purchase it must be, where a receipt proves the customer and not the id.
    private var owner: ProvenCustomer?
    private(set) var environment: Environment
    /// Whether the sandbox may be asked where production does not have it.
    private var isEnvironmentOpen: Bool
    /// Where a later page begins; nil for everything else.
    private var revision: String?
    private var history = PurchaseHistory()
    private var pages = 0
    private var restarts = 0
    private var hasRenewedToken = false
    /// The id was refused once, in this environment.
    private var isRefusalRepeated = false
    /// Production took the token at least once.
    private var productionKnowsKey = false
    /// Production refused the key, so only the sandbox's replies follow.
    private var productionIsSilent = false
    private var pending: Pending?

    /// - Parameters:
    ///   - isAttested: Of a transaction; all other targets are.
    ///   - environment: Nil where it is not known.
    init(
        subject: QuestionSubject, target: Target, isAttested: Bool = false, in environment: Environment? = nil
    ) {
        self.subject = subject
        self.target = target
        if case .transaction = target { self.isAttested = isAttested } else { self.isAttested = true }
        self.environment = environment ?? .production
        isEnvironmentOpen = environment == nil
    }

    /// The same question after a verdict that it is to clear. If nothing is found, a hold stands, and so do purchases
    /// that only wait for others.
    func otherwise(_ verdict: Verdict) -> ServerAPIQuestion {
        switch verdict {
        // Another purchase is no answer to one that the receipt proves.
        case .doubt(_, becomes: .verified) where provesClaimed: return self
        case .hold, .doubt(_, becomes: .verified):
            var next = self
            next.former = verdict
            return next
        default: return self
        }
    }

    var endpoint: Endpoint { Endpoint(.serverAPI, environment, key: app.bundleID.rawValue) }

    var lookedUpTransaction: TransactionID? {
        switch target {
        case .transaction(let id), .confirmation(let id, _): id
        // The first period's grant is no answer to a claim of a later one.
        case .history(let customer) where customer.transactionID == submission.claim.transactionID: nil
        case .history: submission.claim.transactionID
        }
    }

    func call(at now: Timestamp) -> AppleCallStep {
        guard let token = subject.rules.mint?.token(now: now) else {
            return .concluded(.hold(.credentialsRefused, detail: "No token can be signed with the app's key."))
        }
        let isFresh = isRefusalRepeated || revision != nil
        return .send(AppleCall(endpoint: endpoint, isFresh: isFresh, content: .serverAPI(path: request.path, token)))
    }

    private var request: ServerAPIRequest {
        switch target {
        case .transaction(let id), .confirmation(let id, _): .transaction(id)
        case .history(let customer):
            .history(customer.transactionID, product: productFilter(for: customer), revision: revision)
        }
    }

    private var app: App { subject.rules.app }
    private var submission: Submission { subject.submission }

    private var asked: TransactionID {
        switch target {
        case .transaction(let id), .confirmation(let id, _): id
        case .history(let customer): customer.transactionID
        }
    }

    /// Spares pages of other products. Only for a product of the catalogue: one from the submission may be none, which
    /// Apple refuses as our fault. Not where one transaction is claimed: that it is of another product is worth
    /// knowing. And not where the receipt names no purchase of it: nothing in the pages would show whose history it is.
    private func productFilter(for customer: ProvenCustomer) -> ProductID? {
        guard submission.claim.transactionID == nil, let product = submission.claim.productID,
            case .catalogue(let products) = app.products, products[product] != nil, customer.productID == product
        else { return nil }
        return product
    }

    // MARK: Answers

    /// Reads the end of a call. A redirect is never followed: the token goes to configured hosts alone.
    func received(_ reply: AppStoreReply, to call: AppleCall, at now: Timestamp) -> ReplyMeaning {
        switch reply {
        case .failed(let failure): return .failed(failure)
        case .response(200, _, let body):
            var next = self
            if environment == .production { next.productionKnowsKey = true }
            if case .history = target {
                next.pending = HistoryReply(json: body).map { .page($0) }
            } else {
                next.pending = TransactionReply(json: body).map { .transaction($0) }
            }
            // A reply that is none: HTML, cut off, or without what it is about.
            return next.pending == nil ? .retry(.noAnswer, .failed) : .replied(.check(next))
        case .response(let status, let retryAfter, let body):
            let refusal = ServerAPIRefusal(httpStatus: status, body: body)
            return meaning(of: refusal, to: call, notBefore: RetryAfter.moment(retryAfter, now: now), now: now)
                .saying(refusal.code)
        }
    }

    /// Goes on after a reply once its signatures are checked.
    func checked(with verifiers: SignatureVerifiers, at now: Timestamp) -> QuestionStep {
        let attestation = ReplyAttestation(verifier: verifiers.transactions, environment: environment, now: now)
        do throws(ReplyAttestation.Distrust) {
            switch pending {
            case .transaction(let reply):
                let transaction = try attestation.transaction(
                    reply.signedTransactionInfo, as: asked, app: app.bundleID)
                if let owner, !owner.owns(transaction), let former { return conclude(former) }
                return conclude(verdict(on: transaction))
            case .page(let page):
                return step(after: page, try attestation.transactions(of: page, app: app.bundleID))
            case nil: return ask()
            }
        } catch {
            return conclude(error.verdict)
        }
    }

    private func verdict(on transaction: SignedTransaction) -> Verdict {
        if case .confirmation(_, let moment) = target, transaction.signedAt < moment {
            return .hold(.unknownAnswer, detail: "Apple's reply was signed before what it is to confirm.")
        }
        let purchases = (try? transaction.purchase.get()).map { [$0] } ?? []
        return ClaimPolicy(app: app, submission: subject.submission(claiming: purchases))
            .verdict(on: transaction, by: .serverAPI)
    }

    private func step(
        after page: HistoryReply, _ transactions: [SignedTransaction]
    ) -> QuestionStep {
        var next = self
        next.pending = nil
        for transaction in transactions { next.history.add(transaction) }
        next.pages += 1
        let isCut = page.hasMore && (next.pages >= Self.maxPages || next.history.isTooLong)
        guard page.hasMore, !isCut else {
            // An empty history shows nothing.
            if case .history(let customer) = target, !next.history.isEmpty, !next.history.holdsAny(of: customer) {
                return conclude(
                    .hold(.unknownAnswer, detail: "Apple's history shares no transaction with the receipt."))
            }
            let submission = subject.submission(claiming: next.history.purchases, as: next.restored?.transactionID)
            let verdict = next.history.verdict(ClaimPolicy(app: app, submission: submission))
            if case .verified = verdict, !next.lacksProven { return conclude(verdict) }
            if isCut {
                return conclude(.hold(.unknownAnswer, detail: "Apple's history is longer than what is read of it."))
            }
            if case .doubt(.notFoundYet, _) = verdict {
                if next.claimedByReceipt != nil { return conclude(standing(or: contradicted)) }
                if let other = next.askForClaimed(otherwise: verdict) { return other }
            }
            let open = next.lacksProven ? verdict.unlessMoreComes : verdict
            // The history may lack the very purchase that is held.
            if case .hold = former, case .doubt = open { return conclude(standing(or: open)) }
            return conclude(open)
        }
        guard let end = page.revision, end != revision else {
            return conclude(.hold(.unknownAnswer, detail: "Apple's history does not come to an end."))
        }
        next.revision = end
        return .ask(next)
    }

    /// The question for a claimed id of the device's, after a complete history without it.
    private func askForClaimed(otherwise verdict: Verdict) -> QuestionStep? {
        guard case .history(let customer) = target, let claimed = submission.claim.transactionID, claimed.isWellFormed
        else { return nil }
        var next = ServerAPIQuestion(subject: subject, target: .transaction(claimed), in: environment)
        (next.owner, next.former, next.productionIsSilent) = (customer, verdict, productionIsSilent)
        // A complete history says more than what only waits for it.
        if case .hold = former { next.former = former }
        return .ask(next)
    }

    /// Whether the claim names a purchase by an id that the receipt proves.
    private var provesClaimed: Bool {
        if case .transaction(let id) = target { return id == submission.claim.transactionID }
        return claimedByReceipt != nil
    }

    /// The claimed purchase, where the receipt proves it.
    private var claimedByReceipt: ProvenPurchase? {
        guard case .history(let customer) = target, let claimed = submission.claim.transactionID else { return nil }
        return customer.purchases.first { $0.transactionID == claimed }
    }

    /// The purchase that was restored under the claimed id; nil if the history has the claimed one itself.
    private var restored: Purchase? {
        guard let claimed = claimedByReceipt else { return nil }
        return history.original(of: claimed)
    }

    /// Whether the history lacks a purchase that the receipt proves and the claim is about. Apple's records may be
    /// behind the receipt, and a reply without that purchase would be final.
    private var lacksProven: Bool {
        guard case .history(let customer) = target, submission.claim.transactionID == nil else { return false }
        let claimed = submission.claim.productID
        return history.lacksAny(
            of: customer.purchases.filter { claimed == nil || $0.productID == nil || $0.productID == claimed })
    }

    // MARK: Refusals

    private func meaning(
        of refusal: ServerAPIRefusal, to call: AppleCall, notBefore: Timestamp?, now: Timestamp
    ) -> ReplyMeaning {
        switch refusal.meaning {
        case .tokenRefused: return .replied(tokenRefused(refusal, call))
        // It had a page of it a moment ago.
        case .notFound where revision != nil, .idRefused where revision != nil:
            return .retry(.temporarilyUnable, .replied)
        case .notFound: return .replied(notFound(refusal))
        case .idRefused: return .replied(idRefused(refusal))
        case .accountNotFound:
            let rejection = rejection(
                .accountGone, "Apple does not find the purchaser's account (\(refusal.said)).")
            return .replied(
                conclude(
                    standing(or: isAttested ? contradicted : .doubt(.notFoundYet, becomes: .rejected(rejection)))))
        case .restartPaging where revision != nil && restarts < Self.maxRestarts:
            return .replied(
                ask {
                    $0.restarts += 1
                    $0.pages = 0
                    $0.history = PurchaseHistory()
                    $0.revision = nil
                })
        case .restartPaging: return .retry(.temporarilyUnable, notBefore: notBefore, .replied)
        case .retry(let cause, let outcome): return .retry(cause, notBefore: notBefore, outcome)
        case .rateLimited: return .rateLimited(until: notBefore, now: now)
        case .credentialsRefused: return .replied(conclude(keyRefused(refusal)))
        case .requestRefused:
            let detail = "The App Store Server API refused our request (\(refusal.said))."
            return .replied(conclude(.hold(.requestRefused, detail: detail)))
        case .unknown(let outcome):
            let detail = "The App Store Server API gave an unknown answer (\(refusal.said))."
            return ReplyMeaning(step: conclude(.hold(.unknownAnswer, detail: detail)), outcome: outcome)
        }
    }

    private func notFound(_ refusal: ServerAPIRefusal) -> QuestionStep {
        if maySwitch { return askSandbox() }
        if isEnvironmentOpen && environment == .production {
            return conclude(
                notFoundYet(
                    refusal, "Production knows no such transaction, and the app grants this user no sandbox purchases"))
        }
        return conclude(
            standing(or: isAttested ? contradicted : notFoundYet(refusal, "Apple knows no such transaction")))
    }

    private func idRefused(_ refusal: ServerAPIRefusal) -> QuestionStep {
        guard isRefusalRepeated else { return ask { $0.isRefusalRepeated = true } }
        if owner != nil, let former { return conclude(former) }
        // The sandbox's word alone.
        if productionIsSilent { return .verdict(Self.productionRefusesKey) }
        guard !isAttested else {
            return conclude(
                .hold(.unknownAnswer, detail: "The App Store Server API does not take an id that Apple has signed."))
        }
        if isEnvironmentOpen, environment == .sandbox {
            return conclude(
                notFoundYet(refusal, "Production knows no such transaction, and the sandbox takes it for none"))
        }
        return conclude(
            .rejected(rejection(.transactionNotFound, "Apple refuses the transaction id (\(refusal.said)).")))
    }

    private func tokenRefused(_ refusal: ServerAPIRefusal, _ call: AppleCall) -> QuestionStep {
        if !hasRenewedToken {
            if case .serverAPI(_, let token) = call.content { subject.rules.mint?.refused(token) }
            return ask { $0.hasRenewedToken = true }
        }
        guard maySwitch, !productionKnowsKey else { return conclude(keyRefused(refusal)) }
        var silent = self
        silent.productionIsSilent = true
        return silent.askSandbox()
    }

    private var maySwitch: Bool {
        isEnvironmentOpen && environment == .production && app.sandbox.allows(submission.userID)
    }

    private func askSandbox() -> QuestionStep {
        ask {
            $0.history = PurchaseHistory()
            $0.environment = .sandbox
            $0.isRefusalRepeated = false
        }
    }

    // MARK: Verdicts

    /// The verdict where Apple's reply says no more than was known before: the one that the question was to clear.
    private func standing(or verdict: Verdict) -> Verdict { former ?? verdict }

    /// Apple's reply contradicts its own word on the purchase that the question is about.
    private var contradicted: Verdict {
        let purchase: ProvenPurchase? =
            switch target {
            case .transaction(let id), .confirmation(let id, _): ProvenPurchase(id, of: submission.claim.productID)
            case .history: claimedByReceipt
            }
        return .contradicted(purchase?.names(in: environment))
    }

    private func conclude(_ verdict: Verdict) -> QuestionStep {
        switch verdict {
        case .doubt where productionIsSilent, .retry(.noLongerFound, _, _) where productionIsSilent:
            return .verdict(Self.productionRefusesKey)
        default: return .verdict(verdict)
        }
    }

    private static let productionRefusesKey = Verdict.hold(
        .credentialsRefused,
        detail: "The App Store Server API refuses the app's key in production (HTTP status 401) only.")

    /// A transaction that Apple does not have may be one that was made a moment ago.
    /// - Parameter reason: A sentence without its full stop.
    private func notFoundYet(_ refusal: ServerAPIRefusal, _ reason: String) -> Verdict {
        .doubt(.notFoundYet, becomes: .rejected(rejection(.transactionNotFound, "\(reason) (\(refusal.said)).")))
    }

    private func keyRefused(_ refusal: ServerAPIRefusal) -> Verdict {
        .hold(.credentialsRefused, detail: "The App Store Server API refuses the app's key (\(refusal.said)).")
    }

    private func rejection(_ reason: FailureReason, _ detail: String) -> Rejection {
        Rejection(reason, detail, transactionID: asked, productID: submission.claim.productID)
    }
}
