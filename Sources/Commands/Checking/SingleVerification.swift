import AppStore
import Contract

/// Verifies one submission for people who look into a case: one attempt, nothing granted.
struct SingleVerification {
    /// One call to Apple, without its body.
    struct Call: Hashable {
        let endpoint, request: String
        /// The HTTP status, and the kind of the body if it is no JSON; or why there is none.
        let reply: String
    }

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

    /// Reads a value as a worker reads a record of the input topic that was just written.
    func read(_ value: [UInt8]) -> SubmissionReading {
        let origin = Origin(topic: "", partition: 0, offset: 0)
        return SubmissionReading(InputRecord(origin: origin, key: nil, value: value, timestamp: nil), now: now())
    }

    /// The verdict of one attempt, with the checks and the calls that led to it.
    func report(on submission: Submission) -> VerdictReport {
        let (verdict, calls) = verdict(on: submission)
        return VerdictReport(verdict: verdict, checks: checks(of: submission), calls: calls)
    }

    private func verdict(on submission: Submission) -> (verdict: Verdict, calls: [Call]) {
        var submission = submission
        let first: any AppleQuestion
        switch checker.check(&submission, at: now()) {
        case .concluded(let verdict): return (verdict, [])
        case .ask(let question): first = question
        }
        var calls: [Call] = []
        var step = QuestionStep.ask(first)
        while calls.count < AttemptLimit.mostCalls {
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

    /// The checks of the evidence that need no call, step by step.
    private func checks(of submission: Submission) -> [EvidenceCheck] {
        switch submission.evidence {
        case .transactionID: []
        case .signedTransaction(let text): verifiers.transactions.explain(text, now: now())
        case .receipt(let base64): verifiers.receipts.explain(base64: base64)
        }
    }
}

extension SingleVerification.Call {
    init(_ call: AppleCall, _ reply: AppStoreReply) {
        endpoint = call.endpoint.text
        request = "\(call.method.rawValue) \(call.path)"
        self.reply =
            switch reply {
            case .response(let status, _, let body): "HTTP \(status)\(Self.oddity(of: body))"
            case .failed(let failure): failure.rawValue
            }
    }

    /// Signs that a proxy replied instead of Apple. Nothing of the body is shown, because it may repeat the request.
    private static func oddity(of body: [UInt8]) -> String {
        switch body.first(where: { !" \t\r\n".utf8.contains($0) }) {
        case nil: ", an empty body"
        case UInt8(ascii: "{"): ""
        case UInt8(ascii: "<"): ", a body of HTML or XML"
        default: ", a body that is no JSON"
        }
    }
}

/// The verdict of one attempt for people and scripts.
struct VerdictReport {
    let verdict: Verdict
    /// The local check, step by step.
    let checks: [EvidenceCheck]
    /// The calls to Apple, in order.
    let calls: [SingleVerification.Call]

    /// Whether the evidence holds a purchase that could be granted.
    var isVerified: Bool { if case .verified = verdict { true } else { false } }

    var json: JSONOutput {
        var members = members
        members["checks"] = .list(
            checks.map {
                .object([
                    "check": .text($0.step), "outcome": .word($0.outcome),
                    "detail": $0.detail.isEmpty ? .absent : .text($0.detail),
                ])
            })
        members["calls"] = .list(
            calls.map {
                .object(["endpoint": .text($0.endpoint), "request": .text($0.request), "answer": .text($0.reply)])
            })
        return .object(members)
    }

    private var members: [String: JSONOutput] {
        switch verdict {
        case .verified(let purchases, let verifiedBy):
            [
                "verdict": "verified", "verifiedBy": .word(verifiedBy), "purchases": .list(purchases.map(Self.json)),
                "passedOver": purchases.passedOver?.json ?? .absent,
            ]
        case .rejected(let rejection):
            ["verdict": "rejected", "reason": .word(rejection.reason), "detail": .text(rejection.detail)]
        case .retry(let cause, _, _):
            [
                "verdict": "retry", "reason": .word(cause),
                "detail": cause == .noLongerFound
                    ? "Two words of Apple's contradict each other. A worker asks again without end."
                    : "A worker tries again until Apple answers.",
            ]
        case .doubt(let cause, let end):
            [
                "verdict": "doubt", "reason": .word(cause),
                "detail": .string("A worker asks again, and \(Self.words(for: end)) if this lasts."),
            ]
        case .hold(let cause, let detail, _): ["verdict": "hold", "reason": .word(cause), "detail": .text(detail)]
        }
    }

    private static func words(for end: FinalVerdict) -> String {
        switch end {
        case .verified(let purchases, _): "grants \(purchases.count) of its purchases without the others"
        case .rejected(let rejection): "fails it as \(rejection.reason.rawValue)"
        }
    }

    private static func json(_ granted: GrantablePurchase) -> JSONOutput {
        let purchase = granted.purchase
        return .object([
            "transactionId": .id(purchase.transactionID), "originalTransactionId": .id(purchase.originalTransactionID),
            "webOrderLineItemId": .text(purchase.webOrderLineItemID), "productId": .id(purchase.productID),
            "productType": .word(granted.type), "quantity": .count(purchase.quantity),
            "items": .list(granted.items.map(\.json)), "environment": .word(purchase.environment),
            "purchasedAt": .time(purchase.purchasedAt), "expiresAt": .time(purchase.expiresAt),
            "ownership": .word(purchase.ownership), "grantKey": .text(granted.grantKey.text),
            "price": purchase.payment?.price.map { .number($0) } ?? .absent,
            "currency": .text(purchase.payment?.currency), "storefront": .text(purchase.payment?.storefront),
        ])
    }
}
