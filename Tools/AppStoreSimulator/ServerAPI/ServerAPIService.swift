internal import Contract
internal import Cryptography
internal import HTTPServer
internal import SimulatorServer
internal import Synchronization

/// Answers calls to the App Store Server API, scripts included, and counts them.
///
/// In this order: the method, the token, the app, the rate limit, the id's form, the script, the transaction.
final class ServerAPIService: Sendable {
    let table = Mutex(TransactionTable())
    let keys = Mutex(KeyRing())
    private let limiter: Mutex<RateLimiter>
    private let apps: Set<BundleID>
    private let answers: ServerAPIAnswer
    private let context: ServerContext
    private let now: @Sendable () -> Timestamp

    /// - Parameter apps: The apps that are found; empty for any.
    init(
        answers: ServerAPIAnswer, apps: Set<BundleID>, limits: [RateLimit], context: ServerContext,
        now: @escaping @Sendable () -> Timestamp
    ) {
        self.answers = answers
        self.apps = apps
        self.context = context
        self.now = now
        limiter = Mutex(RateLimiter(limits))
    }

    /// The answer to a request.
    func answer(_ call: ServerAPICall, _ request: Request, in environment: Environment) -> ServerAnswer {
        guard request.head.method == "GET" else { return context.refuse(405, "Only GET is served.", in: environment) }
        let now = now()
        let app: BundleID
        do {
            app = try keys.withLock { keys throws(BearerToken.Refusal) in
                try keys.app(of: request.head["authorization"], now: now)
            }
        } catch {
            return context.refuse(401, "Unauthenticated: \(error.rawValue).", in: environment)
        }
        guard apps.isEmpty || apps.contains(app) else { return refuse(.appNotFound, in: environment) }
        if let end = limiter.withLock({ $0.admit(app, call.endpoint, in: environment, now: now) }) {
            count(.rateLimitExceeded, in: environment)
            return .reply(ServerAPIError.rateLimited(retryAfter: "\(end.milliseconds)"))
        }
        guard call.isWellFormed else { return refuse(.invalidTransactionID, in: environment) }
        let script = context.script(ofCallAbout: [TransactionID(call.id)], in: environment)
        let question = ServerAPIAnswer.Question(
            call: call, query: QueryItems(request.head.query), app: app, environment: environment, now: now)
        return ServerAnswer(
            action(of: script.fault, question), delay: .milliseconds(script.delayMilliseconds))
    }

    private func action(of fault: Fault?, _ question: ServerAPIAnswer.Question) -> ServerAnswer.Action {
        // The same fault as of verifyReceipt, with this API's own body.
        if case .rateLimited(let retryAfter) = fault {
            return .reply(ServerAPIError.rateLimited(retryAfter: retryAfter))
        }
        return fault.action { withoutPurchases in
            do {
                let body = try table.withLock { table throws(ServerAPIError) in
                    try answers.found(for: question, in: &table, withoutPurchases: withoutPurchases)
                }
                count(nil, in: question.environment)
                return .json(Array(try answers.text(body, for: question).utf8))
            } catch let error as ServerAPIError {
                count(error, in: question.environment)
                return error.reply
            } catch {
                return .text(500, "The answer could not be signed.")
            }
        }
    }

    private func refuse(_ error: ServerAPIError, in environment: Environment) -> ServerAnswer {
        count(error, in: environment)
        return .reply(error.reply)
    }

    /// Counts a real answer; nil for a success.
    private func count(_ error: ServerAPIError?, in environment: Environment) {
        context.count(in: environment) { $0.errorCodes[error?.rawValue ?? 0, default: 0] += 1 }
    }
}
