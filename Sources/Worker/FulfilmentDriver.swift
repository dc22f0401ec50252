import AppStore
import Contract
public import Fulfilment
public import HTTPClient
import Ledger
import Logging
import Metrics
import Processing
import Scheduling
import Synchronization
import Threading

/// Calls inventory services: turns the core's calls into HTTPS calls, and the replies into what they mean.
///
/// Services share a client where they trust the same authorities. Nothing waits within a client: the core's gates let go
/// no more calls than a client makes at once.
final class FulfilmentDriver: Sendable {
    private struct Pending: Sendable {
        let token: OutboxToken
        let app: BundleID
        let key: EventID
        let since: Instant
    }

    private struct Clients: ~Copyable {
        /// By the file of authorities.
        var all: [String?: HTTPClient] = [:]
        var isStopped = false
    }

    private let core: Mailbox<CoreMail>
    private let metrics: FulfilmentMetrics
    private let logger: Logger
    /// Most calls at once to all services.
    private let mostCalls: Int
    private let pending = Mutex<[UInt64: Pending]>([:])
    private let clients = Mutex(Clients())

    init(mostCalls: Int, core: Mailbox<CoreMail>, metrics: FulfilmentMetrics, logger: Logger) {
        self.mostCalls = mostCalls
        self.core = core
        self.metrics = metrics
        self.logger = logger
    }

    /// For the core's thread.
    func post(_ tasks: [CallTask]) {
        let now = Timestamp.now
        var calls: [String?: [HTTPCall]] = [:]
        var unmade: [Called] = []
        for task in tasks {
            let app = task.grant.claimant.bundleID
            guard let route = (task.apps.content as? VerificationParts)?.services[app] else {
                unmade.append(Self.unmade(task.token, "the apps file names no service"))
                continue
            }
            let call = FulfilmentCall(task.grant, to: route.service, at: now)
            guard let request = try? route.request(call, token: task.token.rawValue) else {
                unmade.append(Self.unmade(task.token, "the call cannot be sent as it is"))
                continue
            }
            let waits = Pending(token: task.token, app: app, key: call.key, since: .now)
            pending.withLock { $0[task.token.rawValue] = waits }
            calls[route.service.caFile, default: []].append(request)
        }
        if !unmade.isEmpty { core.post(.input(.called(unmade))) }
        for (caFile, calls) in calls where !send(calls, caFile) {
            // The core waits for an end of each call.
            ended(calls.map { HTTPOutcome(token: $0.token, result: .failure(.stopped)) })
        }
    }

    private static func unmade(_ token: OutboxToken, _ words: String) -> Called {
        Called(
            token: token, result: .notAccepted(ServiceAnswer(isRefusal: false, words)), outcome: .unknown, took: .zero)
    }

    private func send(_ calls: [HTTPCall], _ caFile: String?) -> Bool {
        clients.withLock { clients in
            guard !clients.isStopped else { return false }
            if let client = clients.all[caFile], client.send(calls) { return true }
            // The first call with these authorities, or a client that has ended by itself.
            guard let made = try? client(caFile) else { return false }
            clients.all[caFile] = made
            return made.send(calls)
        }
    }

    private func client(_ caFile: String?) throws(HTTPClientError) -> HTTPClient {
        // Its own metrics have the names of those of calls to Apple.
        try HTTPClient(
            configuration: FulfilmentRoute.clientConfiguration(caFile: caFile, maxCalls: mostCalls), logger: logger,
            registry: PrometheusRegistry()
        ) { [weak self] outcomes in self?.ended(outcomes) }
    }

    /// Ends every call; nothing is posted afterwards.
    func stop() {
        let mine = clients.withLock { clients in
            clients.isStopped = true
            let mine = Array(clients.all.values)
            clients.all = [:]
            return mine
        }
        for client in mine { client.stop() }
    }

    /// On a client's thread.
    private func ended(_ outcomes: [HTTPOutcome]) {
        let waited = pending.withLock { pending in outcomes.map { pending.removeValue(forKey: $0.token) } }
        let now = Timestamp.now
        let called = zip(outcomes, waited).compactMap { outcome, waited -> Called? in
            guard let waited else { return nil }
            let answer = FulfilmentAnswer(FulfilmentReply(outcome.result), to: waited.key, at: now)
            let took = Instant.now - waited.since
            metrics.called(waited.app, answer.label, took: took)
            return Called(
                token: waited.token,
                result: answer.isAccepted
                    ? .accepted : .notAccepted(ServiceAnswer(isRefusal: answer.isRefusal, answer.words)),
                outcome: answer.outcome, took: took, retryAfter: answer.retryAfter)
        }
        if !called.isEmpty { core.post(.input(.called(called))) }
    }
}

/// The way to one inventory service.
public struct FulfilmentRoute: Sendable {
    public let service: FulfilmentService
    /// A URL that the HTTP client does not take fails each call: without the service's yes nothing is told.
    private let endpoint: Result<HTTPEndpoint, HTTPClientError>

    public init(_ service: FulfilmentService) {
        self.service = service
        endpoint = Result { () throws(HTTPClientError) in try HTTPEndpoint(baseURL: service.url) }
    }

    /// The configuration of a client for calls to services that trust the same authorities.
    public static func clientConfiguration(caFile: String?, maxCalls: Int) -> HTTPClientConfiguration {
        var configuration = HTTPClientConfiguration()
        configuration.maxInFlight = maxCalls
        configuration.maxResponseBytes = FulfilmentReply.maxBytes
        configuration.caFile = caFile
        return configuration
    }

    /// - Throws: for a URL or a header that cannot be sent as it is.
    func request(_ call: FulfilmentCall, token: UInt64) throws(HTTPClientError) -> HTTPCall {
        let headers = call.headers.map { HTTPHeader(name: $0.name, value: $0.value) }
        return HTTPCall(
            token: token, request: try HTTPRequest(.post, endpoint.get(), headers: headers),
            body: HTTPBody([call.body[...]]),
            timeout: service.timeout)
    }

    /// A GET without key and signature, which a service has no reason to act on.
    public func harmlessCall(token: UInt64) throws(HTTPClientError) -> HTTPCall {
        HTTPCall(token: token, request: try HTTPRequest(.get, endpoint.get()), timeout: service.timeout)
    }
}

extension FulfilmentReply {
    /// The reply that is judged in the outcome of a call.
    public init(_ result: Result<HTTPResponse, HTTPFailure>) {
        switch result {
        case .success(let response):
            self = .response(
                status: response.status, key: response.header(FulfilmentCall.keyHeader),
                retryAfter: response.header("retry-after"))
        case .failure(let failure): self = .failed(TransportFailure(failure))
        }
    }
}
