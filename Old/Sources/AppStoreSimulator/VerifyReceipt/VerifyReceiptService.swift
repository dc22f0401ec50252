import Foundation
import Purchases

/// Answers calls to verifyReceipt, scripts included, and counts them.
final class VerifyReceiptService: Sendable {
    private let backstage: Backstage
    private let judge: ReceiptJudge
    private let now: @Sendable () -> Timestamp

    init(judge: ReceiptJudge, backstage: Backstage, now: @escaping @Sendable () -> Timestamp) {
        self.judge = judge
        self.backstage = backstage
        self.now = now
    }

    /// What is to be done about a request.
    func perform(_ request: Request, in environment: Environment) -> Performance {
        let judgement =
            request.method == "POST"
            ? judge.judge(body: request.body, in: environment) : ReceiptJudge.Judgement(status: 21000)
        let direction = backstage.direct(callAbout: judgement.transactions, in: environment)
        if direction.fault?.hidesAnswer != true {
            backstage.count(in: environment) { $0.statuses[judgement.status, default: 0] += 1 }
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
}
