import Foundation
import Purchases
import Synchronization

/// Answers calls to both endpoints, scripts included, and counts them.
final class VerifyReceiptService: Sendable {
    let book: Mutex<ScriptBook>
    let statistics = Mutex(Statistics())
    private let judge: ReceiptJudge
    private let now: @Sendable () -> Timestamp

    init(judge: ReceiptJudge, seed: UInt64, now: @escaping @Sendable () -> Timestamp) {
        self.judge = judge
        self.now = now
        book = Mutex(ScriptBook(seed: seed))
    }

    /// What is to be done about a request.
    func perform(_ request: Request, in environment: Environment) -> Performance {
        statistics.withLock { $0.count(in: environment) { $0.calls += 1 } }
        if let outage = book.withLock({ $0.outage(in: environment) }) {
            return perform(outage, in: environment)
        }
        guard request.path == "/verifyReceipt" else { return refuse(404, "Not found.", in: environment) }
        guard !request.isTooLarge else { return refuse(413, "The request is too large.", in: environment) }
        let judgement =
            request.method == "POST"
            ? judge.judge(body: request.body, in: environment) : ReceiptJudge.Judgement(status: 21000)
        let transactions = judgement.transactions
        let direction = book.withLock { $0.direct(callAbout: transactions, in: environment) }
        statistics.withLock { statistics in
            statistics.count(callAbout: transactions)
            statistics.count(in: environment) { endpoint in
                if let fault = direction.fault { endpoint.faults[fault.name, default: 0] += 1 }
                if direction.fault?.hidesAnswer != true { endpoint.statuses[judgement.status, default: 0] += 1 }
            }
        }
        let act = Stage.act(of: direction.fault) { withoutPurchases in
            render(judgement, in: environment, withoutPurchases: withoutPurchases)
        }
        return Performance(delayMilliseconds: direction.delayMilliseconds, act: act)
    }

    private func render(
        _ judgement: ReceiptJudge.Judgement, in environment: Environment, withoutPurchases: Bool
    ) -> HTTPReply {
        let answer = VerifyReceiptAnswer(
            judgement, environment: environment, now: now(), withoutPurchases: withoutPurchases)
        guard let body = try? JSONEncoder().encode(answer) else {
            return Stage.text(500, "The answer could not be written.")
        }
        return HTTPReply(body: Array(body))
    }

    private func perform(_ outage: Behaviour.Outage, in environment: Environment) -> Performance {
        statistics.withLock { $0.count(in: environment) { $0.faults[outage.rawValue, default: 0] += 1 } }
        return switch outage {
        case .unavailable: Performance(act: .reply(Stage.text(503, "The service is unavailable.")))
        case .closed: Performance(act: .close)
        }
    }

    private func refuse(_ code: Int, _ text: String, in environment: Environment) -> Performance {
        statistics.withLock { $0.count(in: environment) { $0.refusals[code, default: 0] += 1 } }
        return Performance(act: .reply(Stage.text(code, text)))
    }
}

/// A request as a connection read it.
struct Request: Sendable {
    var method: String
    /// Without a query.
    var path: String
    var body: Data
    /// Whether the body was longer than the limit; then it was not kept.
    var isTooLarge = false
}

extension Fault {
    /// Whether the real answer does not reach the client in any part.
    fileprivate var hidesAnswer: Bool {
        switch self {
        case .delay, .withoutPurchases, .truncated, .cutOff, .drip: false
        case .status, .http, .rateLimited, .redirect, .html, .empty, .oversized, .reset, .close, .hang: true
        }
    }
}
