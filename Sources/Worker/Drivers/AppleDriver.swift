import AppStore
import Contract
import HTTPClient
import Logging
import Metrics
import Processing
import Scheduling
import Synchronization
import Threading

/// Calls Apple: turns the core's attempts into HTTPS calls, and the replies into what they mean. The meaning is read on the
/// client's thread, where the reply comes in.
final class AppleDriver: Sendable {
    private struct Pending: Sendable {
        let token: SubmissionToken
        let question: AppleQuestion
        let call: AppleCall
        let since: Instant
    }

    private let core: Mailbox<CoreMail>
    private let routes: AppleRoutes
    private let metrics: WorkerMetrics
    private let pending: Mutex<[UInt64: Pending]>
    private let client: Mutex<HTTPClient?>

    /// - Throws: ``HTTPClientError``.
    init(
        _ configuration: HTTPClientConfiguration, _ routes: AppleRoutes, core: Mailbox<CoreMail>,
        metrics: WorkerMetrics, logger: Logger, registry: PrometheusRegistry
    ) throws(HTTPClientError) {
        self.core = core
        self.metrics = metrics
        self.routes = routes
        pending = Mutex([:])
        client = Mutex(nil)
        let made = try HTTPClient(configuration: configuration, logger: logger, registry: registry) {
            [weak self] outcomes in self?.ended(outcomes)
        }
        client.withLock { $0 = made }
    }

    /// For the core's thread.
    func post(_ tasks: [AttemptTask]) {
        let now = Timestamp.now
        var calls: [HTTPCall] = []
        calls.reserveCapacity(tasks.count)
        var concluded: [Answered] = []
        for task in tasks {
            guard let question = task.question.content as? AppleQuestion else {
                concluded.append(Self.end(task.token, SubmissionCheck.foreign))
                continue
            }
            switch question.call(at: now) {
            case .concluded(let verdict): concluded.append(Self.end(task.token, .concluded(verdict)))
            case .send(let call):
                guard let request = try? routes.httpCall(call, token: task.token.rawValue) else {
                    concluded.append(
                        Self.end(
                            task.token,
                            .concluded(.hold(.requestRefused, detail: "The request cannot be sent as it is."))))
                    continue
                }
                let waits = Pending(token: task.token, question: question, call: call, since: .now)
                pending.withLock { $0[task.token.rawValue] = waits }
                calls.append(request)
            }
        }
        if !concluded.isEmpty { core.post(.input(.answered(concluded))) }
        guard !calls.isEmpty else { return }
        let isTaken = client.withLock { $0?.send(calls) ?? false }
        // The core waits for an end of each attempt.
        if !isTaken { ended(calls.map { HTTPOutcome(token: $0.token, result: .failure(.stopped)) }) }
    }

    /// Ends every call; nothing is posted afterwards.
    func stop() {
        let client = client.withLock { client in
            let mine = client
            client = nil
            return mine
        }
        client?.stop()
    }

    private static func end(_ token: SubmissionToken, _ result: AttemptResult) -> Answered {
        Answered(token: token, result: result, outcome: .unknown, took: .zero)
    }

    /// On the client's thread.
    private func ended(_ outcomes: [HTTPOutcome]) {
        let waited = pending.withLock { pending in
            outcomes.map { pending.removeValue(forKey: $0.token) }
        }
        let now = Timestamp.now
        let answered = zip(outcomes, waited).compactMap { outcome, waited -> Answered? in
            guard let waited else { return nil }
            let (step, signal) = waited.question.received(AppStoreReply(outcome.result), to: waited.call, at: now)
            let took = Instant.now - waited.since
            metrics.called(waited.call.endpoint, took: took, isAnswered: signal == .answered)
            return Answered(
                token: waited.token, result: AttemptResult(step), outcome: CallOutcome(signal, now: now), took: took)
        }
        if !answered.isEmpty { core.post(.input(.answered(answered))) }
    }
}

extension CallOutcome {
    init(_ signal: EndpointSignal, now: Timestamp) {
        self =
            switch signal {
            case .answered: .answered
            case .failed: .failed
            case .overloaded: .overloaded
            case .limited(let until): .limited(wait: until.map { max(.zero, $0.since(now)) })
            case .unknown: .unknown
            }
    }
}
