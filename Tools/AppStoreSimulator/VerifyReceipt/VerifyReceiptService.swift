internal import Contract
internal import HTTPServer
internal import SimulatorServer

/// Answers calls to verifyReceipt, scripts included, and counts them.
final class VerifyReceiptService: Sendable {
    private let context: ServerContext
    private let validator: ReceiptValidator
    private let now: @Sendable () -> Timestamp

    init(validator: ReceiptValidator, context: ServerContext, now: @escaping @Sendable () -> Timestamp) {
        self.validator = validator
        self.context = context
        self.now = now
    }

    /// The answer to a request.
    func answer(_ request: Request, in environment: Environment) -> ServerAnswer {
        let result =
            request.head.method == "POST"
            ? validator.validate(body: request.body, in: environment) : ReceiptValidator.Result(status: 21000)
        let script = context.script(ofCallAbout: result.transactions, in: environment)
        if script.fault?.hidesAnswer != true {
            context.count(in: environment) { $0.statuses[result.status, default: 0] += 1 }
        }
        let action = script.fault.action { withoutPurchases in
            let answer = VerifyReceiptAnswer(
                result, environment: environment, now: now(), withoutPurchases: withoutPurchases)
            return .json(answer.bytes)
        }
        return ServerAnswer(action, delay: .milliseconds(script.delayMilliseconds))
    }
}
