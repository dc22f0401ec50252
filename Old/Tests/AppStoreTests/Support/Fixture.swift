import Purchases

@testable import AppStore

/// An app, a submission and a moment that the tests share.
enum Fixture {
    static let now = Timestamp(milliseconds: 1_795_237_200_000)
    static let day: Duration = .seconds(86_400)

    static let products: [ProductID: Product] = [
        "gems": Product(id: "gems", type: .consumable, items: [Item(item: "gems", quantity: 100)]),
        "level": Product(id: "level", type: .nonConsumable, items: [Item(item: "level", quantity: 1)]),
        "pass": Product(id: "pass", type: .nonRenewing, items: [Item(item: "pass", quantity: 1)]),
        "vip": Product(id: "vip", type: .autoRenewable, items: [Item(item: "vip", quantity: 1)]),
    ]

    static func app(
        sandbox: SandboxPolicy = .accept, acceptsFamilySharing: Bool = false,
        products: [ProductID: Product]? = products
    ) -> App {
        App(
            bundleID: "com.example.game", sandbox: sandbox, acceptsFamilySharing: acceptsFamilySharing,
            products: products)
    }

    static func submission(
        transactionID: TransactionID? = nil, productID: ProductID? = nil, token: String? = nil,
        environment: Environment? = nil
    ) -> Submission {
        Submission(
            id: "order-1:1", userID: "player-1", bundleID: "com.example.game", evidence: .receipt(base64: "AAAA"),
            transactionID: transactionID, productID: productID, appAccountToken: token, environment: environment)
    }

    static func purchase(
        _ transactionID: TransactionID = "1001", original: TransactionID? = nil, product: ProductID = "gems",
        quantity: Int = 1, environment: Environment = .production, purchasedAt: Timestamp = now,
        expiresAt: Timestamp? = nil, revokedAt: Timestamp? = nil, isUpgraded: Bool = false,
        ownership: Ownership = .purchased, token: String? = nil, type: ProductType? = nil
    ) -> Purchase {
        Purchase(
            transactionID: transactionID, originalTransactionID: original ?? transactionID, productID: product,
            quantity: quantity, environment: environment, purchasedAt: purchasedAt, expiresAt: expiresAt,
            revokedAt: revokedAt, isUpgraded: isUpgraded, ownership: ownership, appAccountToken: token,
            type: type)
    }

    static func exchange(
        app: App = app(), submission: Submission = submission(),
        secrets: [SharedSecret] = [SharedSecret("first")], sent: ReceiptMark = ReceiptMark(),
        isRetry: Bool = false
    ) -> VerifyReceiptExchange {
        VerifyReceiptExchange(
            app: app, submission: submission, receivedAt: now, sharedSecrets: secrets,
            sent: sent, isRetry: isRetry)
    }

    /// Answers a fresh exchange's calls in turn. The last element is nil if it has not concluded by then.
    static func run(
        _ bodies: [[UInt8]], app: App = app(), submission: Submission = submission(),
        secrets: [SharedSecret] = [SharedSecret("first")], isRetry: Bool = false
    ) -> (calls: [Environment], verdict: Verdict?) {
        var exchange = exchange(app: app, submission: submission, secrets: secrets, isRetry: isRetry)
        var calls: [Environment] = []
        var step = exchange.start()
        var rest = bodies[...]
        while case .call(let environment, _, _) = step {
            calls.append(environment)
            guard let body = rest.popFirst() else { return (calls, nil) }
            step = exchange.answered(.response(httpStatus: 200, retryAfter: nil, body: body), now: now)
        }
        guard case .conclude(let verdict) = step else { return (calls, nil) }
        return (calls, verdict)
    }
}

extension Verdict {
    /// Why the verdict is against the submission, if it is.
    var reason: FailureReason? {
        guard case .rejected(let rejection) = self else { return nil }
        return rejection.reason
    }

    /// What the submission waits for on our side, if it does.
    var hold: HoldCause? {
        guard case .hold(let cause, _) = self else { return nil }
        return cause
    }

    /// The ids of what is to be granted, in order.
    var granted: [TransactionID] {
        guard case .verified(let purchases, _) = self else { return [] }
        return purchases.map(\.purchase.transactionID)
    }

    /// Cause of another try, and what it ends in when patience does.
    var retry: (cause: RetryCause, then: FailureReason?, tries: Int?)? {
        guard case .retry(let cause, _, let patience) = self else { return nil }
        switch patience {
        case .unlimited: return (cause, nil, nil)
        case .tries(let tries, let rejection): return (cause, rejection.reason, tries)
        case .window(let rejection): return (cause, rejection.reason, nil)
        }
    }
}
