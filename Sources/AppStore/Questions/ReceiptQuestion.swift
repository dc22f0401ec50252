import Contract

/// The question whether a receipt is authentic, as far as it has come: the next call to verifyReceipt, and the meaning
/// of its answer.
///
/// - The production endpoint is asked first, as Apple advises, whatever the submission or the receipt say of the
///   environment: both are unauthenticated. 21007 leads to the sandbox, once.
/// - 21004 leads to the next shared secret. With none left the submission is held: the player cannot help it.
/// - An answer that does not name the receipt's own purchases is no answer, see ``ReceiptFingerprint``. A refusal names
///   nothing. Both are asked for once more, over a connection that nothing else was asked on.
/// - A refusal counts at once for a receipt that Apple did not sign. One that Apple signed and refuses is a doubt, but
///   for an account that is gone.
/// - A purchase that is not in the answer may be in the customer's history, which the App Store Server API has.
///
/// It makes at most one call per endpoint and secret, and one more in all.
struct ReceiptQuestion: AppleQuestion {
    let subject: QuestionSubject
    /// The receipt's text, in the form that Apple takes.
    let base64: ArraySlice<UInt8>
    let fingerprint: ReceiptFingerprint
    private(set) var environment = Environment.production
    /// Place in the app's list of secrets.
    private(set) var secret = 0
    /// Since then Apple is asked over connections that were never used before.
    private(set) var isFresh = false
    /// An answer that the receipt itself is needed for.
    private var pending: Pending?

    private enum Pending: Sendable {
        case refusal(AppleCodes.StatusMeaning, status: Int)
        /// The verdict by the answer, unless the customer's history says better.
        case lookUp(otherwise: Verdict)
    }

    init(subject: QuestionSubject, base64: ArraySlice<UInt8>, fingerprint: ReceiptFingerprint) {
        self.subject = subject
        self.base64 = base64
        self.fingerprint = fingerprint
    }

    private var secrets: [SharedSecret] { subject.rules.sharedSecrets }
    private var app: App { subject.rules.app }
    var endpoint: Endpoint { .verifyReceipt(environment) }
    var lookedUpTransaction: TransactionID? { nil }

    func call(at now: Timestamp) -> AppleCallStep {
        let request = VerifyReceiptRequest(
            base64: base64, secret: secrets.indices.contains(secret) ? secrets[secret] : nil)
        return .send(AppleCall(endpoint: endpoint, isFresh: isFresh, content: .verifyReceipt(request.bodyParts)))
    }

    /// Reads the end of a call. An intermediary sends any HTTP status but 200. A redirect is never followed, because
    /// the receipt and the secret go to configured hosts alone.
    func step(after reply: AppStoreReply, to call: AppleCall, at now: Timestamp) -> QuestionStep {
        switch reply {
        case .failed(.tooLarge): return .verdict(.retry(.noAnswer, notBefore: nil))
        case .failed: return .verdict(.retry(.unreachable, notBefore: nil))
        case .response(200, let retryAfter, let body):
            guard let response = VerifyReceiptResponse(json: body) else {
                return .verdict(.retry(.noAnswer, notBefore: RetryAfter.moment(retryAfter, now: now)))
            }
            return step(after: response)
        case .response(let status, let retryAfter, _):
            let cause: RetryCause = status == 429 ? .rateLimited : .noAnswer
            return .verdict(.retry(cause, notBefore: RetryAfter.moment(retryAfter, now: now)))
        }
    }

    private func step(after response: VerifyReceiptResponse) -> QuestionStep {
        let status = response.status
        let meaning = AppleCodes.meaning(ofStatus: status)
        switch meaning {
        case .authentic:
            guard fingerprint.matches(response, isFresh: isFresh) else {
                return askAgain() ?? .verdict(.retry(.noAnswer, notBefore: nil))
            }
            return conclude(response)
        case .belongs(let other): return hop(to: other, status: status)
        case .sharedSecretRefused: return askWithNextSecret()
        case .byRetryableFlag where response.isRetryable != false, .temporarilyUnable:
            return .verdict(.retry(.temporarilyUnable, notBefore: nil))
        case .perhapsMalformed, .notAuthentic, .byRetryableFlag: return check(.refusal(meaning, status: status))
        case .subscriptionExpired:
            return believe(Rejection(.subscriptionExpired, "The subscription is over (status \(status))."))
        case .accountGone:
            return believe(Rejection(.accountGone, "The purchaser's account is gone (status \(status))."))
        case .requestRefused:
            return .verdict(.hold(.requestRefused, detail: "verifyReceipt refused our request (status \(status))."))
        case .unknown: return .verdict(.hold(.unknownAnswer, detail: "verifyReceipt answered with status \(status)."))
        }
    }

    /// Whose receipt it is, from which environment, and which of its purchases were claimed.
    private func conclude(_ response: VerifyReceiptResponse) -> QuestionStep {
        guard let bundleID = response.bundleID else {
            return .verdict(.hold(.incompleteAnswer, detail: "Apple's answer names no bundle id."))
        }
        guard bundleID == app.bundleID else {
            return .verdict(.rejected(Rejection(.bundleMismatch, "Apple attests the receipt to another app.")))
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
                unreadable.append(transactionID: record.transactionID, productID: record.productID)
            }
        }
        let conclusion = ClaimPolicy(app: app, submission: subject.submission).conclusion(
            on: purchases, beside: unreadable, by: .verifyReceipt, attestsTokens: false)
        switch conclusion {
        case .tokensUnknown(let verdict): return lookUp(otherwise: verdict)
        case .verdict(let verdict) where verdict.isNotFoundYet: return lookUp(otherwise: verdict)
        case .verdict(let verdict): return .verdict(verdict)
        }
    }

    private func lookUp(otherwise verdict: Verdict) -> QuestionStep {
        subject.rules.hasServerAPIKey ? check(.lookUp(otherwise: verdict)) : .verdict(verdict)
    }

    /// Whether a name of an environment is that of the endpoint, or absent. The endpoint is the environment: nothing
    /// that the sandbox answers is ever production's.
    private func agrees(_ name: String?) -> Bool {
        switch name.map(ReceiptOrigin.init) {
        case nil: true
        case .production: environment == .production
        case .sandbox: environment == .sandbox
        case .xcode, .other: false
        }
    }

    // MARK: Further calls

    /// The only hop leads from production to the sandbox. Any other hop would lead to an endpoint that has already
    /// denied the receipt, or to the same endpoint. Apple's sandbox has been seen to answer so; it is a transient
    /// fault.
    private func hop(to other: Environment, status: Int) -> QuestionStep {
        guard environment == .production, other == .sandbox else {
            return .verdict(.retry(.temporarilyUnable, notBefore: nil))
        }
        guard app.sandbox.allows(subject.submission.userID) else {
            let claim = subject.submission.claim
            let rejection = Rejection(
                .environmentNotAllowed,
                "A sandbox receipt (status \(status)); this app does not grant this user's sandbox purchases.",
                transactionID: claim.transactionID, productID: claim.productID)
            // The most frequent refusal. It counts at once where the receipt says the same of itself.
            return fingerprint.saysSandbox ? .verdict(.rejected(rejection)) : believe(rejection)
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

    /// Concludes with a refusal that would be the end, once it came over a fresh connection.
    private func believe(_ rejection: Rejection) -> QuestionStep { askAgain() ?? .verdict(.rejected(rejection)) }

    /// The same call over a fresh connection; nil if this was one.
    private func askAgain() -> QuestionStep? { isFresh ? nil : ask { $0.isFresh = true } }

    // MARK: With the receipt at hand

    private func check(_ pending: Pending) -> QuestionStep {
        var next = self
        next.pending = pending
        return .check(next)
    }

    /// Goes on after an answer that the receipt itself is needed for. For a thread that may take its time: the receipt
    /// is read again, and its signature checked.
    func checked(with verifiers: SignatureVerifiers, at now: Timestamp) -> QuestionStep {
        switch pending {
        case .refusal(let meaning, let status):
            return .verdict(verdict(on: meaning, status: status, isSigned: receipt.map(verifiers.isSigned) ?? false))
        case .lookUp(let verdict):
            // Apple has just authenticated the receipt, so its ids are the customer's.
            let lookup = receipt.flatMap { LookupQuestion(subject: subject, receipt: $0, in: environment) }
            return lookup.map { .ask($0) } ?? .verdict(verdict)
        case nil: return ask()
        }
    }

    /// Nil never in practice: it was read before it was sent.
    private var receipt: AppReceipt? { try? AppReceipt.parse(base64: EvidenceText(base64)) }

    private func verdict(on refusal: AppleCodes.StatusMeaning, status: Int, isSigned: Bool) -> Verdict {
        if refusal == .perhapsMalformed {
            let rejection = Rejection(.receiptMalformed, "Apple calls the receipt malformed (status \(status)).")
            return isSigned ? .doubt(.perhapsMalformed, becomes: .rejected(rejection)) : .rejected(rejection)
        }
        let rejection = Rejection(.receiptNotAuthentic, "Apple could not authenticate the receipt (status \(status)).")
        return isSigned ? .doubt(.perhapsNotAuthentic, becomes: .rejected(rejection)) : .rejected(rejection)
    }
}

extension Verdict {
    /// Whether the claimed purchase is not in Apple's answer, and nothing else is wrong.
    var isNotFoundYet: Bool { if case .doubt(.notFoundYet, _) = self { true } else { false } }
}

/// The values by which an answer of verifyReceipt is matched with the receipt that was sent.
///
/// If a server or intermediary once answers twice, every later request on that connection gets the previous answer. An
/// answer repeats all purchases of the receipt. One that lacks some of the first is asked for again over a fresh
/// connection. A later receipt of the same player may hold the same ids, but its creation time differs.
struct ReceiptFingerprint: Hashable, Sendable {
    /// Most purchases whose ids are kept. Thousands of receipts wait at a time.
    static let maxTransactions = 8

    /// Attribute 12.
    let createdAt: Timestamp?
    /// Of the receipt's first purchases; empty for a receipt without purchases, or without any that can be read.
    let transactions: [TransactionID]
    /// Whether the receipt says of itself that it is the sandbox's. Nobody has proved it, but nobody who has paid in
    /// production gains by saying so.
    let saysSandbox: Bool

    init(createdAt: Timestamp? = nil, transactions: [TransactionID] = [], saysSandbox: Bool = false) {
        self.createdAt = createdAt
        self.transactions = Array(transactions.prefix(Self.maxTransactions))
        self.saysSandbox = saysSandbox
    }

    /// Whether an answer is about the receipt. It must name the receipt's purchases and its creation second, if both
    /// have them.
    /// - Parameter isFresh: Whether the answer came over a connection without other requests. It then cannot belong to
    ///   another request, even if Apple formats the creation time differently or leaves purchases out.
    func matches(_ response: VerifyReceiptResponse, isFresh: Bool) -> Bool {
        func isNamed(_ transaction: TransactionID) -> Bool { response.records.contains { $0.names(transaction) } }
        if isFresh { return transactions.isEmpty || transactions.contains(where: isNamed) }
        return isOfMoment(response) && transactions.allSatisfy(isNamed)
    }

    private func isOfMoment(_ response: VerifyReceiptResponse) -> Bool {
        guard let createdAt, let attested = response.receiptCreatedAt else { return true }
        return createdAt.milliseconds / 1000 == attested.milliseconds / 1000
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

    /// The JSON, in parts that follow each other; the receipt's text, which may have hundreds of kilobytes, is one of
    /// them and no copy.
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
