import AppStore
import Contract

/// Verifies one submission for people who look into a case: one attempt, nothing granted.
struct SingleVerification {
    /// One call to Apple, without its body.
    struct Call: Encodable, Hashable {
        let endpoint, request: String
        /// The HTTP status, and the kind of the body if it is no JSON; or why there is none.
        let answer: String
    }

    /// A question makes fewer: its own limits bound it. Nothing but a mistake in it comes here.
    static let maxCalls = 200

    private let checker: LocalChecker
    private let verifiers: SignatureVerifiers
    private let apple: any AppleCaller
    private let now: @Sendable () -> Timestamp

    init(
        apps: [AppRules], verifiers: SignatureVerifiers, apple: any AppleCaller,
        now: @escaping @Sendable () -> Timestamp
    ) {
        checker = LocalChecker(apps: apps, verifiers: verifiers)
        self.verifiers = verifiers
        self.apple = apple
        self.now = now
    }

    /// The verdict of one attempt, with the calls that it took.
    func verdict(on submission: Submission) -> (verdict: Verdict, calls: [Call]) {
        let first: AppleQuestion
        switch checker.check(submission, at: now()) {
        case .concluded(let verdict): return (verdict, [])
        case .ask(let question): first = question
        }
        var calls: [Call] = []
        var step = QuestionStep.ask(first)
        while calls.count < Self.maxCalls {
            switch step {
            case .verdict(let verdict): return (verdict, calls)
            case .check(let question): step = question.checked(with: verifiers, at: now())
            case .ask(let question):
                switch question.call(at: now()) {
                case .concluded(let verdict): return (verdict, calls)
                case .send(let call):
                    let reply = apple.reply(to: call)
                    calls.append(Call(call, reply))
                    step = question.received(reply, to: call, at: now()).step
                }
            }
        }
        return (.retry(.noAnswer, notBefore: nil), calls)
    }

    /// Step by step, what can be said of the evidence without asking anybody.
    func checks(of submission: Submission) -> [VerdictReport.Check] {
        switch submission.evidence {
        case .transactionID: []
        case .signedTransaction(let text):
            verifiers.transactions.explain(text, now: now()).checks.map {
                VerdictReport.Check(check: $0.step.rawValue, outcome: $0.outcome.rawValue, detail: $0.detail)
            }
        case .receipt(let base64):
            verifiers.receipts.explain(base64: base64.string).checks.map {
                VerdictReport.Check(check: $0.step.rawValue, outcome: $0.outcome.rawValue, detail: $0.detail)
            }
        }
    }
}

extension SingleVerification.Call {
    init(_ call: AppleCall, _ reply: AppStoreReply) {
        endpoint = call.endpoint.text
        request = "\(call.method.rawValue) \(call.path)"
        answer =
            switch reply {
            case .response(let status, _, let body): "HTTP \(status)\(Self.oddity(of: body))"
            case .failed(let failure): failure.rawValue
            }
    }

    /// Signs that a proxy answered in Apple's place. Nothing of the body is shown: it may repeat what was
    /// sent.
    private static func oddity(of body: [UInt8]) -> String {
        switch body.first(where: { !" \t\r\n".utf8.contains($0) }) {
        case nil: ", an empty body"
        case UInt8(ascii: "{"): ""
        case UInt8(ascii: "<"): ", a body of HTML or XML"
        default: ", a body that is no JSON"
        }
    }
}

/// A verdict as JSON for people and scripts.
struct VerdictReport: Encodable {
    /// One step of the local check.
    struct Check: Encodable, Hashable {
        /// `outcome` is `passed`, `failed` or `skipped`; `detail` holds no evidence, token or secret.
        let check, outcome, detail: String
    }

    struct PurchaseJSON: Encodable {
        let transactionId, originalTransactionId: String
        let webOrderLineItemId: String?
        let productId, productType: String
        let quantity: Int
        let items: [GrantJSON.ItemJSON]
        let environment, purchasedAt: String
        let expiresAt: String?
        let ownership, grantKey: String
        let price: Int64?
        let currency, storefront: String?
    }

    let verdict: String
    let reason, detail, verifiedBy: String?
    let purchases: [PurchaseJSON]?
    let checks: [Check]
    let calls: [SingleVerification.Call]

    /// Whether the evidence holds a purchase that could be granted.
    var isVerified: Bool { verdict == "verified" }

    /// - Parameters:
    ///   - checks: the local check, step by step.
    ///   - calls: the calls to Apple, in order.
    init(_ verdict: Verdict, checks: [Check], calls: [SingleVerification.Call]) {
        self.checks = checks
        self.calls = calls
        switch verdict {
        case .verified(let purchases, let verifiedBy):
            self.verdict = "verified"
            (reason, detail, self.verifiedBy) = (nil, nil, verifiedBy.rawValue)
            self.purchases = purchases.map { PurchaseJSON($0) }
        case .rejected(let rejection):
            self.verdict = "rejected"
            (reason, detail, verifiedBy, self.purchases) = (rejection.reason.rawValue, rejection.detail, nil, nil)
        case .retry(let cause, _):
            self.verdict = "retry"
            (reason, detail) = (cause.rawValue, "A worker tries again until Apple answers.")
            (verifiedBy, self.purchases) = (nil, nil)
        case .doubt(let cause, let rejection):
            self.verdict = "doubt"
            reason = cause.rawValue
            detail = "A worker asks again, and fails it as \(rejection.reason.rawValue) if this lasts."
            (verifiedBy, self.purchases) = (nil, nil)
        case .hold(let cause, let detail):
            self.verdict = "hold"
            (reason, self.detail, verifiedBy, self.purchases) = (cause.rawValue, detail, nil, nil)
        }
    }
}

extension VerdictReport.PurchaseJSON {
    init(_ granted: GrantablePurchase) {
        let purchase = granted.purchase
        transactionId = purchase.transactionID.rawValue
        originalTransactionId = purchase.originalTransactionID.rawValue
        webOrderLineItemId = purchase.webOrderLineItemID
        productId = purchase.productID.rawValue
        productType = granted.type.rawValue
        quantity = purchase.quantity
        items = granted.items.map { GrantJSON.ItemJSON(item: $0.item, quantity: $0.quantity) }
        environment = purchase.environment.rawValue
        purchasedAt = purchase.purchasedAt.rfc3339
        expiresAt = purchase.expiresAt?.rfc3339
        ownership = purchase.ownership.rawValue
        grantKey = granted.grantKey.text
        price = purchase.payment?.price
        currency = purchase.payment?.currency
        storefront = purchase.payment?.storefront
    }
}
