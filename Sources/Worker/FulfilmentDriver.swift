import AppStore
import Contract
public import Fulfilment
public import HTTPClient
import Ledger
import Metrics
import Processing
import Scheduling
import Synchronization
import Threading

/// Calls inventory services: turns the core's calls into HTTPS calls, and the replies into their meanings.
///
/// Services share a client where they trust the same authorities. Nothing waits within a client: the core's gates let
/// go no more calls than a client makes at once. Where no client can be made, an alert is repeated until there is one,
/// or none is needed. An example is a file of authorities that has gone.
final class FulfilmentDriver: Sendable {
    private struct Pending: Sendable {
        let token: OutboxToken
        let app: BundleID
        let key: EventID
        let since: Instant
        let authorities: String?
    }

    private struct Clients: ~Copyable {
        /// By the file of authorities.
        var table = ClientTable<HTTPClient>()
        /// Files that no client can be made for.
        var faults: [String?: Reminder] = [:]
        /// The version of the apps file that says which clients are needed.
        var version = 0
        var isStopped = false

        /// - Returns: news of a client that is there again, or needed no more.
        mutating func endFault(of authorities: String?, at now: Instant) -> AlertNews? {
            guard var fault = faults.removeValue(forKey: authorities),
                case .over(let time) = fault.observe(false, at: now)
            else { return nil }
            return .serviceClientMade(authorities, after: time)
        }
    }

    private enum Sending {
        case sent
        case stopped
        /// No client can be made.
        case failed(HTTPClientError)
    }

    private let core: Mailbox<CoreMail>
    private let alerts: AlertLog
    /// Most calls at once to all services.
    private let mostCalls: Int
    private let pending = Mutex<[UInt64: Pending]>([:])
    private let clients = Mutex(Clients())

    init(mostCalls: Int, core: Mailbox<CoreMail>, alerts: AlertLog) {
        self.mostCalls = mostCalls
        self.core = core
        self.alerts = alerts
    }

    /// An apps file is in force. Clients that it does not need end with their last calls.
    func configured(_ apps: AppsSnapshot) {
        let (gone, news) = clients.withLock { clients -> ([HTTPClient], [AlertNews]) in
            guard apps.version > clients.version else { return ([], []) }
            clients.version = apps.version
            let gone = clients.table.need(Set(apps.parts.services.values.map(\.service.caFile)))
            var news: [AlertNews] = []
            for authorities in Array(clients.faults.keys) where !clients.table.needs(authorities) {
                if let end = clients.endFault(of: authorities, at: .now) { news.append(end) }
            }
            return (gone, news)
        }
        for news in news { alerts.tell(news) }
        // Nothing waits for their end: they stop as they are dropped.
        withExtendedLifetime(gone) {}
    }

    /// For the core's thread.
    func post(_ tasks: [CallTask]) {
        if let apps = tasks.last?.apps { configured(apps) }
        let now = Timestamp.now
        var calls: [String?: [HTTPCall]] = [:]
        var unmade: [Called] = []
        for task in tasks {
            let app = task.grant.claimant.bundleID
            guard let route = task.apps.parts.services[app] else {
                unmade.append(Self.unmade(task.token, "the apps file names no service", .unknown))
                continue
            }
            let call = FulfilmentCall(task.grant, to: route.service, at: now)
            guard let request = try? route.request(call, token: task.token.rawValue) else {
                unmade.append(Self.unmade(task.token, "the call cannot be sent as it is", .unknown))
                continue
            }
            let authorities = route.service.caFile
            let waits = Pending(
                token: task.token, app: app, key: call.key, since: .now, authorities: authorities)
            pending.withLock { $0[task.token.rawValue] = waits }
            calls[authorities, default: []].append(request)
        }
        for (authorities, calls) in calls {
            // The core waits for an end of each call.
            switch send(calls, authorities) {
            case .sent: break
            case .stopped: tell(calls.map { HTTPOutcome(token: $0.token, result: .failure(.stopped)) })
            case .failed(let error): unmade += calls.compactMap { unsent($0.token, error) }
            }
        }
        if !unmade.isEmpty { core.post(.input(.called(unmade))) }
    }

    private static func unmade(_ token: OutboxToken, _ words: String, _ outcome: CallOutcome) -> Called {
        Called(
            token: token, result: .notAccepted(ServiceAnswer(isRefusal: false, words)), outcome: outcome, took: .zero)
    }

    /// A call without a client counts as one without a reply. None can be called before a person has mended that. So
    /// the service's gate stops further ones, and they wait in the ledger.
    private func unsent(_ token: UInt64, _ error: HTTPClientError) -> Called? {
        guard let waited = pending.withLock({ $0.removeValue(forKey: token) }) else { return nil }
        alerts.metrics.fulfilment.called(waited.app, .unanswered, took: .zero)
        return Self.unmade(waited.token, "no call can be made: \(error)", .failed)
    }

    private func send(_ calls: [HTTPCall], _ authorities: String?) -> Sending {
        let (sending, news) = clients.withLock { clients -> (Sending, AlertNews?) in
            guard !clients.isStopped else { return (.stopped, nil) }
            if clients.table.send(calls.count, authorities, by: { $0.send(calls) }) { return (.sent, nil) }
            // The first call with these authorities, or a client that has ended by itself.
            do throws(HTTPClientError) {
                let made = try client(authorities)
                clients.table.add(made, for: authorities)
                let news = clients.endFault(of: authorities, at: .now)
                let isSent = clients.table.send(calls.count, authorities) { $0.send(calls) }
                return (isSent ? .sent : .stopped, news)
            } catch {
                let lasts = clients.faults[authorities, default: Reminder()].observe(true, at: .now)
                return (.failed(error), lasts == nil ? nil : .serviceClientFailed(authorities, "\(error)"))
            }
        }
        if let news { alerts.tell(news) }
        return sending
    }

    private func client(_ authorities: String?) throws(HTTPClientError) -> HTTPClient {
        // Its own metrics have the names of those of calls to Apple.
        try HTTPClient(
            configuration: FulfilmentRoute.clientConfiguration(caFile: authorities, maxCalls: mostCalls),
            logger: alerts.logger, registry: PrometheusRegistry()
        ) { [weak self] outcomes in self?.ended(outcomes) }
    }

    /// Ends every call; nothing is posted afterwards.
    func stop() {
        let mine = clients.withLock { clients in
            clients.isStopped = true
            return clients.table.removeAll()
        }
        for client in mine { client.stop() }
    }

    /// Reports the results of calls to the core, sent or not.
    /// - Returns: how many there are of each file of authorities.
    @discardableResult
    private func tell(_ outcomes: [HTTPOutcome]) -> [String?: Int] {
        let waited = pending.withLock { pending in outcomes.map { pending.removeValue(forKey: $0.token) } }
        let now = Timestamp.now
        var ends: [String?: Int] = [:]
        let called = zip(outcomes, waited).compactMap { outcome, waited -> Called? in
            guard let waited else { return nil }
            ends[waited.authorities, default: 0] += 1
            let answer = FulfilmentAnswer(FulfilmentReply(outcome.result), to: waited.key, at: now)
            let took = Instant.now - waited.since
            alerts.metrics.fulfilment.called(waited.app, answer.label, took: took)
            return Called(
                token: waited.token,
                result: answer.isAccepted
                    ? .accepted : .notAccepted(ServiceAnswer(isRefusal: answer.isRefusal, answer.words)),
                outcome: answer.outcome, took: took, retryAfter: answer.retryAfter)
        }
        if !called.isEmpty { core.post(.input(.called(called))) }
        return ends
    }

    /// On a client's thread.
    private func ended(_ outcomes: [HTTPOutcome]) {
        let ends = tell(outcomes)
        let gone = clients.withLock { clients -> [HTTPClient] in
            var gone: [HTTPClient] = []
            for (authorities, calls) in ends {
                if let client = clients.table.ended(calls, authorities) { gone.append(client) }
            }
            return gone
        }
        // This may be the thread of one of the clients, which ends by itself once it is dropped.
        withExtendedLifetime(gone) {}
    }
}

/// The way to one inventory service.
public struct FulfilmentRoute: Sendable {
    public let service: FulfilmentService
    /// A URL that the HTTP client refuses fails each call: without the service's yes no event is published.
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
