import Contract

/// The question whether a receipt is authentic, at its present step: the next call to verifyReceipt, and the meaning of
/// its reply.
///
/// - The production endpoint is asked first, as Apple advises. Neither the submission's nor the receipt's word on the
///   environment counts: both are unauthenticated. 21007 leads to the sandbox, once.
/// - 21004 leads to the next shared secret. With none left the submission is held: the player cannot help it.
/// - A reply that does not name the receipt's own purchases may be another receipt's, see ``ReceiptFingerprint``. A
///   refusal names nothing. In both cases Apple is asked once more, over a connection without an earlier call.
/// - Then a refusal counts for a receipt that is proven to be forged. It never counts against a purchase that is
///   claimed by its id and that Apple signed in the receipt. For every other receipt it is a doubt, because this
///   version may not know the form of a genuine receipt.
/// - A reply that still names none of the receipt's purchases is a doubt. Nothing in it is granted.
/// - A reply that still lacks some of the receipt's first purchases is a doubt where no transaction is claimed: its
///   verdict would be final.
/// - A purchase that the reply lacks or leaves open may be in the customer's history, which the App Store Server API
///   has. Without a key, receipt and reply contradict each other if Apple signed the lacking purchase and it is claimed
///   by its id.
/// - A contradiction ends as a repeat would, once the claimed purchase was granted.
///
/// It makes at most one call per endpoint and secret, and one more in all.
struct ReceiptQuestion: AppleQuestion {
    let subject: QuestionSubject
    /// The receipt's text, in the form that Apple takes.
    let base64: ArraySlice<UInt8>
    let fingerprint: ReceiptFingerprint
    private(set) var environment = Environment.production
    /// Index in the app's list of secrets.
    private(set) var secret = 0
    /// From then on Apple is asked over connections without an earlier call.
    private(set) var isFresh: Bool
    /// A reply that the receipt itself is needed for.
    private var pending: Pending?

    private enum Pending: Sendable {
        /// A doubt, unless the receipt is forged.
        case refusal(RetryCause, Rejection)
        /// The verdict by the reply, unless the customer's history says better. The receipt's ids are the customer's
        /// if Apple has authenticated it, or signed it.
        case serverAPI(otherwise: Verdict, isAuthentic: Bool)
    }

    /// - Parameter isFresh: Whether the first call goes over a connection of its own. If the receipt names nothing, its
    ///   reply cannot be distinguished from another's.
    init(
        subject: QuestionSubject, base64: ArraySlice<UInt8>, fingerprint: ReceiptFingerprint, isFresh: Bool = false
    ) {
        self.isFresh = isFresh
        self.subject = subject
        self.base64 = base64
        self.fingerprint = fingerprint
    }

    private var secrets: [SharedSecret] { subject.rules.sharedSecrets }
    private var app: App { subject.rules.app }
    private var ownCheck: PurchaseCheck {
        PurchaseCheck(app: app, submission: subject.submission, attestsTokens: false)
    }
    var endpoint: Endpoint { .verifyReceipt(environment) }
    var lookedUpTransaction: TransactionID? { nil }

    func call(at now: Timestamp) -> AppleCallStep {
        let request = VerifyReceiptRequest(
            base64: base64, secret: secrets.indices.contains(secret) ? secrets[secret] : nil)
        return .send(AppleCall(endpoint: endpoint, isFresh: isFresh, content: .verifyReceipt(request.bodyParts)))
    }

    /// Reads the end of a call. verifyReceipt sends 200 with every reply, so an intermediary sends any other status. It
    /// is a failure unless it concerns this request alone. A redirect is never followed, because the receipt and the
    /// secret go to configured hosts alone.
    func received(_ reply: AppStoreReply, to call: AppleCall, at now: Timestamp) -> ReplyMeaning {
        switch reply {
        case .failed(let failure): return .failed(failure)
        case .response(let status, let retryAfter, let body):
            let notBefore = RetryAfter.moment(retryAfter, now: now)
            switch status {
            case 200:
                return VerifyReceiptResponse(json: body).map { meaning(of: $0).saying($0.status) }
                    ?? .retry(.noAnswer, notBefore: notBefore, .failed)
            case 429: return .rateLimited(until: notBefore, now: now)
            default: return .retry(.noAnswer, notBefore: notBefore, AppleCodes.outcome(ofPage: status))
            }
        }
    }

    private func meaning(of response: VerifyReceiptResponse) -> ReplyMeaning {
        let status = response.status
        switch AppleCodes.meaning(ofStatus: status) {
        case .authentic:
            guard fingerprint.matches(response, isFresh: isFresh) else { return .replied(askAgain() ?? neverNamed()) }
            return .replied(conclude(response))
        // The only hop leads from production to the sandbox. Any other would lead to an endpoint that has already
        // denied the receipt, or to the same one. Apple's sandbox has been seen to reply so; it is a transient fault.
        case .belongs(to: .sandbox) where environment == .production: return .replied(hopToSandbox(status: status))
        case .byRetryableFlag where response.isRetryable != false, .temporarilyUnable, .belongs:
            return .retry(.temporarilyUnable, .failed)
        case .sharedSecretRefused: return .replied(askWithNextSecret())
        case .perhapsMalformed:
            let rejection = Rejection(.receiptMalformed, "Apple calls the receipt malformed (status \(status)).")
            return .replied(refuse(.perhapsMalformed, rejection))
        case .notAuthentic, .byRetryableFlag:
            let rejection = Rejection(
                .receiptNotAuthentic, "Apple could not authenticate the receipt (status \(status)).")
            return .replied(refuse(.perhapsNotAuthentic, rejection))
        // The period may have been paid when it was claimed, which its record says.
        case .subscriptionExpired where response.isWhole && fingerprint.matches(response, isFresh: isFresh):
            return .replied(conclude(response))
        case .subscriptionExpired:
            let rejection = Rejection(.subscriptionExpired, "The subscription is over (status \(status)).")
            return .replied(refuse(.perhapsNotAuthentic, rejection))
        case .accountGone:
            let rejection = Rejection(.accountGone, "The purchaser's account is gone (status \(status)).")
            return .replied(refuse(.perhapsNotAuthentic, rejection))
        case .requestRefused:
            let detail = "verifyReceipt refused our request (status \(status))."
            return .replied(.verdict(.hold(.requestRefused, detail: detail)))
        case .unknown:
            let detail = "verifyReceipt answered with status \(status)."
            return .replied(.verdict(.hold(.unknownAnswer, detail: detail)))
        }
    }

    /// Whose receipt it is, from which environment, and which of its purchases were claimed.
    private func conclude(_ response: VerifyReceiptResponse) -> QuestionStep {
        guard let bundleID = response.bundleID else {
            return askServerAPI(otherwise: .hold(.incompleteAnswer, detail: "Apple's reply names no bundle id."))
        }
        guard bundleID == app.bundleID else {
            let rejection = Rejection(.bundleMismatch, "Apple attests the receipt to another app.")
            return askAgain() ?? .verdict(.rejected(rejection))
        }
        guard agrees(response.environment), agrees(response.receiptType) else {
            return .verdict(
                .hold(.unknownAnswer, detail: "The \(environment.rawValue) endpoint answered for another environment."))
        }
        var purchases: [Purchase] = []
        var unreadable = UnreadablePurchases()
        for record in response.records {
            if let purchase = record.purchase(in: environment) {
                purchases.append(purchase)
            } else {
                unreadable.append(
                    transactionID: record.transactionID, original: record.originalTransactionID,
                    productID: record.productID)
            }
        }
        let submission = subject.submission(claiming: purchases)
        let conclusion = ClaimPolicy(app: app, submission: submission).conclusion(
            on: purchases, beside: unreadable, by: .verifyReceipt, attestsTokens: false)
        let isInDoubt = response.records.contains(where: isClaimedInDoubt) || isContradicted(purchases)
        let isWhole = submission.claim.transactionID != nil || fingerprint.isWhole(in: response)
        func unlessMoreComes(_ verdict: Verdict) -> Verdict { isWhole ? verdict : verdict.unlessMoreComes }
        switch conclusion {
        // The API has the tokens, and the parts that the reply lacks.
        case .tokensUnknown(let verdict):
            return subject.rules.hasServerAPIKey
                ? askServerAPI(otherwise: verdict) : .verdict(unlessMoreComes(verdict))
        case .verdict(.rejected(let rejection)) where isInDoubt:
            return askServerAPI(otherwise: .doubt(.perhapsRevoked, becomes: .rejected(rejection)))
        // A purchase about which Apple contradicts itself is passed over beside others that pass. The history knows
        // more.
        case .verdict(.verified(let passed, let verifiedBy)) where isInDoubt:
            return askServerAPI(otherwise: unlessMoreComes(.verified(passed, by: verifiedBy)))
        case .verdict(let known):
            let verdict = unlessMoreComes(known)
            return verdict.isOpen ? askServerAPI(otherwise: verdict) : .verdict(verdict)
        }
    }

    /// Whether a record is meant by the claim, and the reply contradicts itself about its cancellation.
    private func isClaimedInDoubt(_ record: AttestedRecord) -> Bool {
        record.isCancellationInDoubt && isClaimed(record.productID, names: record.names)
    }

    /// Whether a claimed purchase stands by its own record, and is cancelled by the record of its other transaction.
    /// One record may be from before the end of a dispute.
    private func isContradicted(_ purchases: [Purchase]) -> Bool {
        zip(purchases, ownCheck.agreed(purchases)).contains { came, told in
            came.stands && !told.stands
                && isClaimed(came.productID) { came.transactionID == $0 || came.originalTransactionID == $0 }
        }
    }

    private func isClaimed(_ product: ProductID?, names: (TransactionID) -> Bool) -> Bool {
        let claim = subject.submission.claim
        if let claimed = claim.transactionID { return names(claimed) }
        return claim.productID.map { product == $0 } ?? true
    }

    /// Apple's reply to this receipt alone, which is about none of its purchases. An intermediary may be at fault, so
    /// Apple's word alone does not authenticate the receipt.
    private func neverNamed() -> QuestionStep {
        let claim = subject.submission.claim
        let rejection = Rejection(
            .transactionNotFound, "Apple's reply never named a purchase of the receipt.",
            transactionID: claim.transactionID, productID: claim.productID)
        return askServerAPI(otherwise: .doubt(.notFoundYet, becomes: .rejected(rejection)), isAuthentic: false)
    }

    private func askServerAPI(otherwise verdict: Verdict, isAuthentic: Bool = true) -> QuestionStep {
        // Without a key the receipt is needed all the same where it may hold a purchase that the reply lacks.
        guard subject.rules.hasServerAPIKey || lacksClaimed(verdict) else { return .verdict(verdict) }
        return check(.serverAPI(otherwise: verdict, isAuthentic: isAuthentic))
    }

    /// Whether a name of an environment is that of the endpoint, or absent. The endpoint is the environment: nothing
    /// that the sandbox answers is ever production's.
    private func agrees(_ name: String?) -> Bool {
        name.map { ReceiptOrigin($0).environment == environment } ?? true
    }

    // MARK: Further calls

    private func hopToSandbox(status: Int) -> QuestionStep {
        guard app.sandbox.allows(subject.submission.userID) else {
            let claim = subject.submission.claim
            let rejection = Rejection(
                .environmentNotAllowed,
                "A sandbox receipt (status \(status)); this app does not grant this user's sandbox purchases.",
                transactionID: claim.transactionID, productID: claim.productID)
            // The most frequent refusal. It counts at once where the receipt says the same of itself. A reply that says
            // something else may come from a host of Apple's that took the call for another one.
            return fingerprint.saysSandbox ? .verdict(.rejected(rejection)) : refuse(.perhapsNotAuthentic, rejection)
        }
        return ask { $0.environment = .sandbox }
    }

    private func askWithNextSecret() -> QuestionStep {
        guard secrets.indices.contains(secret + 1) else {
            let detail =
                secrets.isEmpty
                ? "verifyReceipt needs a shared secret and none is configured for the app."
                : "verifyReceipt refused every shared secret of the app."
            return .verdict(.hold(.sharedSecretRefused, detail: detail))
        }
        return ask { $0.secret += 1 }
    }

    /// A refusal that would be the end: once it came over a fresh connection, the receipt's signature is asked, too.
    private func refuse(_ cause: RetryCause, _ rejection: Rejection) -> QuestionStep {
        askAgain() ?? check(.refusal(cause, rejection))
    }

    /// The same call over a fresh connection; nil if this was one.
    private func askAgain() -> QuestionStep? { isFresh ? nil : ask { $0.isFresh = true } }

    // MARK: With the receipt at hand

    private func check(_ pending: Pending) -> QuestionStep {
        var next = self
        next.pending = pending
        return .check(next)
    }

    /// Goes on after a reply that the receipt itself is needed for. For a thread that may take its time: the receipt
    /// is read again, and its signature checked.
    func checked(with verifiers: SignatureVerifiers, at now: Timestamp) -> QuestionStep {
        switch pending {
        case .refusal(let cause, let rejection):
            let doubt = Verdict.doubt(cause, becomes: .rejected(rejection))
            guard let receipt else { return .verdict(doubt) }
            guard !verifiers.isForged(receipt) else { return .verdict(.rejected(rejection)) }
            guard verifiers.isSigned(receipt) else { return .verdict(doubt) }
            // Apple refuses a receipt that it signed. Where it can be asked for its signed word, that decides. A
            // receipt that does not say where it was made may be the sandbox's.
            guard subject.rules.hasServerAPIKey,
                let question = ServerAPIQuestion(subject: subject, receipt: receipt, in: receipt.origin?.environment)
            else {
                let mayBeSandboxes = rejection.reason == .environmentNotAllowed && receipt.origin != .production
                guard !mayBeSandboxes, let purchase = claimed(in: receipt) else { return .verdict(doubt) }
                return .verdict(.contradicted(purchase))
            }
            return .ask(question)
        case .serverAPI(let verdict, let isAuthentic):
            guard let receipt else { return isAuthentic ? askForTransaction(otherwise: verdict) : .verdict(verdict) }
            if subject.rules.hasServerAPIKey, isAuthentic || verifiers.isSigned(receipt),
                let question = ServerAPIQuestion(subject: subject, receipt: receipt, in: environment)
            {
                return .ask(question.otherwise(verdict))
            }
            guard lacksClaimed(verdict), let purchase = claimed(in: receipt), verifiers.isSigned(receipt) else {
                return .verdict(verdict)
            }
            return .verdict(.contradicted(purchase))
        case nil: return ask()
        }
    }

    /// Whether Apple's reply has no purchase of the claimed id.
    private func lacksClaimed(_ verdict: Verdict) -> Bool {
        guard subject.submission.claim.transactionID != nil, case .doubt(.notFoundYet, _) = verdict else {
            return false
        }
        return true
    }

    /// The purchase that is claimed by its id, in a receipt that Apple signed; nil if that does not hold it. Anybody
    /// can spoil a genuine receipt around its signed part. So without an id one receipt could wait under any number of
    /// claims.
    private func claimed(in receipt: AppReceipt) -> NamedPurchase? {
        guard let claimed = subject.submission.claim.transactionID else { return nil }
        let environment = receipt.origin?.environment ?? self.environment
        let entries = receipt.purchases
        if let exact = entries.first(where: { $0.transactionID == claimed }) {
            return exact.purchase(in: environment).map(ownCheck.names)
                ?? ProvenPurchase(claimed, of: exact.productID).names(in: environment)
        }
        return entries.lazy.compactMap { $0.purchase(in: environment) }.first { ownCheck.isKnown($0, by: claimed) }
            .map(ownCheck.names)
    }

    /// The transaction of a receipt in the style of iOS 6, which Apple has authenticated.
    private func askForTransaction(otherwise verdict: Verdict) -> QuestionStep {
        guard subject.rules.hasServerAPIKey, let (_, receipt) = TransactionReceipt.read(EvidenceText(base64)) else {
            return .verdict(verdict)
        }
        let target = ServerAPIQuestion.Target.transaction(receipt.transactionID)
        return .ask(
            ServerAPIQuestion(subject: subject, target: target, isAttested: true, in: environment).otherwise(verdict))
    }

    /// Nil for one of another form than a container, such as the receipts of iOS 6.
    private var receipt: AppReceipt? { try? AppReceipt.parse(base64: EvidenceText(base64)) }
}

extension VerifyReceiptResponse {
    /// Whether it names its app and its purchase.
    fileprivate var isWhole: Bool { bundleID != nil && !records.isEmpty }
}

extension Verdict {
    /// Where two words of Apple's contradict each other, neither is the last. Apple is asked again without end, and the
    /// submission is held once that lasts. A grant of the claimed purchase ends it.
    /// - Parameter purchase: Nil where none is claimed by its id.
    static func contradicted(_ purchase: NamedPurchase?) -> Verdict {
        .retry(.noLongerFound, notBefore: nil, purchases: purchase.map { [$0] } ?? [])
    }

    /// Whether a receipt, or Apple's reply to it, lacks the claimed purchase, or something of it that a grant needs.
    /// Neither says the type of a product, which may be why the catalogue seems to be wrong.
    var isOpen: Bool {
        switch self {
        case .doubt(.notFoundYet, _), .hold(.incompleteAnswer, _, _), .hold(.productContradicted, _, _): true
        default: false
        }
    }
}

/// The body of a verifyReceipt call.
///
/// [requestBody](https://developer.apple.com/documentation/appstorereceipts/requestbody)
struct VerifyReceiptRequest: Hashable, Sendable {
    /// Standard base64, ASCII: goes into the body as it is, because no character of it needs an escape.
    let base64: ArraySlice<UInt8>
    /// Left out where there is none.
    let secret: SharedSecret?

    /// The JSON, in parts that follow each other. The receipt's text is one of them, uncopied, because it may have
    /// hundreds of kilobytes.
    var bodyParts: [ArraySlice<UInt8>] {
        var others = JSONObjectWriter(expecting: 128)
        others.member("password", secret?.text)
        // Every period that was paid for counts, not just the newest.
        others.member("exclude-old-transactions", false)
        return [Self.beginning, base64, Self.end, others.finished().dropFirst()]
    }

    private static let beginning = Array(#"{"receipt-data":""#.utf8)[...]
    private static let end = Array("\",".utf8)[...]
}
