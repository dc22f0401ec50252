public import AppStore
public import Configuration
public import Contract
public import HTTPClient
import Logging
import Metrics
import Processing
import Scheduling
import Synchronization
import Threading

/// Calls Apple: turns the core's attempts into HTTPS calls, and the replies into their meanings. The meaning is read on
/// the client's thread, where the reply comes in.
final class AppleDriver: Sendable {
    private struct Pending: Sendable {
        let token: SubmissionToken
        let question: any AppleQuestion
        let call: AppleCall
        let since: Instant
    }

    private let core: Mailbox<CoreMail>
    private let routes: AppleRoutes
    private let metrics: WorkerMetrics
    private let pending: Mutex<[UInt64: Pending]>
    private let client: Mutex<HTTPClient?>
    private let failed: @Sendable (String) -> Void

    /// - Parameter failed: Called when the client has ended by itself: Apple would not be asked any more.
    /// - Throws: ``HTTPClientError``.
    init(
        _ configuration: HTTPClientConfiguration, _ routes: AppleRoutes, core: Mailbox<CoreMail>,
        metrics: WorkerMetrics, logger: Logger, registry: PrometheusRegistry,
        failed: @escaping @Sendable (String) -> Void
    ) throws(HTTPClientError) {
        self.core = core
        self.metrics = metrics
        self.routes = routes
        pending = Mutex([:])
        client = Mutex(nil)
        self.failed = failed
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
        var concluded: [Attempted] = []
        for task in tasks {
            let question = task.question.apple
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
        if !concluded.isEmpty { core.post(.input(.attempted(concluded))) }
        guard !calls.isEmpty else { return }
        let isTaken = client.withLock { $0?.send(calls) }
        if isTaken == false { failed("HTTPS: the client has ended by itself") }
        // The core waits for an end of each attempt.
        if isTaken != true { ended(calls.map { HTTPOutcome(token: $0.token, result: .failure(.stopped)) }) }
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

    private static func end(_ token: SubmissionToken, _ result: AttemptResult) -> Attempted {
        Attempted(token: token, result: result, outcome: .unknown, took: .zero)
    }

    /// Why an endpoint did not reply, for people; nil where it did, or where nothing was learnt.
    static func fault(_ result: Result<HTTPResponse, HTTPFailure>, _ meaning: ReplyMeaning) -> String? {
        switch (meaning.outcome, result, meaning.step) {
        case (.replied, _, _), (.unknown, _, _): nil
        case (_, .failure(let failure), _) where failure.kind == .tlsFailed:
            "\(failure); GRANTOR_APPLE_CA_FILE names the authorities that are trusted, where it is set"
        case (_, .failure(let failure), _): "\(failure)"
        case (_, .success(let response), .verdict(.retry(let cause, _, _))) where response.status == 200: cause.sentence
        case (_, .success(let response), _): "HTTP \(response.status)"
        }
    }

    /// On the client's thread.
    private func ended(_ outcomes: [HTTPOutcome]) {
        let waited = pending.withLock { pending in
            outcomes.map { pending.removeValue(forKey: $0.token) }
        }
        let now = Timestamp.now
        let attempted = zip(outcomes, waited).compactMap { call, waited -> Attempted? in
            guard let waited else { return nil }
            let meaning = waited.question.received(AppStoreReply(call.result), to: waited.call, at: now)
            let took = Instant.now - waited.since
            let status: Int? = if case .success(let response) = call.result { response.status } else { nil }
            metrics.apple.called(
                waited.call.endpoint, took: took, hasReplied: meaning.outcome == .replied, status: status,
                code: meaning.code)
            return Attempted(
                token: waited.token, result: AttemptResult(meaning.step), outcome: meaning.outcome, took: took,
                fault: Self.fault(call.result, meaning))
        }
        if !attempted.isEmpty { core.post(.input(.attempted(attempted))) }
    }
}

/// The way from a call to Apple to an HTTPS request.
public struct AppleRoutes: Sendable {
    /// One request to verifyReceipt differs from the next in its body alone.
    private let verifyReceipt: [Environment: HTTPRequest]
    private let serverAPI: [Environment: HTTPEndpoint]

    /// The endpoints of the configuration, and the proxy on the way to them.
    /// - Throws: for URLs and a proxy that the HTTP client does not take.
    public init(_ settings: AppleSettings) throws(HTTPClientError) {
        let proxy: HTTPProxy? = if let proxy = settings.proxy { try HTTPProxy(url: proxy.revealed()) } else { nil }
        func endpoint(_ url: String) throws(HTTPClientError) -> HTTPEndpoint {
            try HTTPEndpoint(baseURL: url, proxy: proxy)
        }
        // Its replies are mostly base64, whose compression costs more than it saves.
        func request(_ url: String) throws(HTTPClientError) -> HTTPRequest {
            try HTTPRequest(
                .post, endpoint(url), headers: [HTTPHeader(name: "content-type", value: "application/json")])
        }
        verifyReceipt = [
            .production: try request(settings.verifyReceiptProductionURL),
            .sandbox: try request(settings.verifyReceiptSandboxURL),
        ]
        serverAPI = [
            .production: try endpoint(settings.serverAPIProductionURL),
            .sandbox: try endpoint(settings.serverAPISandboxURL),
        ]
    }

    /// The configuration of a client for calls to Apple alone.
    /// - Parameter maxCalls: most calls at once.
    public static func clientConfiguration(_ settings: AppleSettings, maxCalls: Int) -> HTTPClientConfiguration {
        var configuration = HTTPClientConfiguration()
        configuration.maxInFlight = maxCalls
        configuration.maxResponseBytes = AppStoreReply.maxBytes
        configuration.connectTimeout = settings.connectTimeout
        configuration.totalTimeout = settings.timeout
        configuration.caFile = settings.caFile?.path
        return configuration
    }

    /// The HTTPS call that an Apple call is made by.
    /// - Throws: for a path or a header that cannot be sent as it is.
    public func httpCall(_ call: AppleCall, token: UInt64) throws(HTTPClientError) -> HTTPCall {
        let body = call.bodyParts.isEmpty ? nil : HTTPBody(call.bodyParts)
        return HTTPCall(token: token, request: try request(call), body: body, usesFreshConnection: call.isFresh)
    }

    /// A call to verifyReceipt that asks about nothing. Apple replies to it with a status.
    public func emptyReceiptCall(_ environment: Environment, token: UInt64) throws(HTTPClientError) -> HTTPCall {
        guard let request = verifyReceipt[environment] else { throw .invalidURL }
        return HTTPCall(token: token, request: request, body: HTTPBody([Array("{}".utf8)[...]]))
    }

    private func request(_ call: AppleCall) throws(HTTPClientError) -> HTTPRequest {
        let environment = call.endpoint.environment
        switch call.endpoint.service {
        case .verifyReceipt:
            guard let request = verifyReceipt[environment] else { throw .invalidURL }
            return request
        case .serverAPI:
            guard let endpoint = serverAPI[environment] else { throw .invalidURL }
            let headers = call.headers.map { HTTPHeader(name: $0.name, value: $0.value) }
            return try HTTPRequest(.get, endpoint, path: call.path, headers: headers, acceptsGzip: true)
        }
    }
}

extension AppStoreReply {
    /// The reply that the policy reads in the outcome of a call.
    public init(_ result: Result<HTTPResponse, HTTPFailure>) {
        switch result {
        case .success(let response):
            self = .response(
                httpStatus: response.status, retryAfter: response.header("retry-after"), body: response.body)
        case .failure(let failure): self = .failed(TransportFailure(failure))
        }
    }
}

extension TransportFailure {
    init(_ failure: HTTPFailure) {
        self =
            switch failure.kind {
            case .dnsFailed, .connectFailed, .proxyFailed: .unreachable
            case .connectTimeout, .timedOut: .timedOut
            case .tlsFailed: .tls
            case .responseTooLarge: .tooLarge
            case .malformedResponse, .connectionLost: .interrupted
            case .queueFull, .stopped, .libraryFault: .cancelled
            }
    }
}
