import AppStore
import Contract
import Metrics
import Processing

/// Metrics of Apple's endpoints, by service and environment: there may be a key for each app. To find a series by its
/// labels costs more than a call's other measures, so all are found at the start.
struct AppleMetrics: Sendable {
    static let callSeconds = TimerDeclaration(
        "grantor_apple_call_seconds", help: "Time until Apple answered or could not, by service and environment.",
        labels: ["service", "environment"])
    static let unanswered = CounterDeclaration(
        "grantor_apple_calls_unanswered_total", help: "Calls to Apple without an answer, by service and environment.",
        labels: ["service", "environment"])
    static let replies = CounterDeclaration(
        "grantor_apple_replies_total", help: "Ends of calls to Apple by HTTP status; none for no response.",
        labels: ["service", "environment", "status"])
    static let codes = CounterDeclaration(
        "grantor_apple_codes_total",
        help: "Replies of Apple's by the status of verifyReceipt, and by the errorCode of the App Store Server API.",
        labels: ["service", "environment", "code"])
    static let breakers = GaugeDeclaration(
        "grantor_apple_breakers", help: "Circuit breakers in each phase; one for each app's key at the Server API.",
        labels: ["service", "environment", "phase"])
    static let openings = CounterDeclaration(
        "grantor_apple_breaker_openings_total", help: "Times that calls to Apple were stopped.",
        labels: ["service", "environment"])
    static let callLimit = GaugeDeclaration(
        "grantor_apple_call_limit", help: "Calls that may be under way at once; the least of any key's.",
        labels: ["service", "environment"])
    static let callsInFlight = GaugeDeclaration(
        "grantor_apple_calls_in_flight", help: "Calls to Apple that are under way.",
        labels: ["service", "environment"])
    static let callsWaiting = GaugeDeclaration(
        "grantor_apple_calls_waiting", help: "Submissions in memory that wait for their call.",
        labels: ["service", "environment"])

    /// Statuses with a label of their own.
    private static let statuses = [200, 400, 401, 403, 404, 408, 413, 429, 500, 502, 503, 504]

    /// The endpoints of all services and environments, without a key.
    static let endpoints = Endpoint.Service.allCases.flatMap { service in
        Environment.allCases.map { Endpoint(service, $0) }
    }

    private struct Series {
        let seconds: Timer
        let unanswered, openings: Counter
        let statuses: [Int: Counter]
        let otherStatus, noResponse: Counter
        let codes: [String: Counter]

        init(_ registry: PrometheusRegistry, of endpoint: Endpoint) {
            let (service, environment) = (endpoint.service.rawValue, endpoint.environment.rawValue)
            func replies(_ status: String) -> Counter {
                registry.counter(AppleMetrics.replies, service, environment, status)
            }
            seconds = registry.timer(AppleMetrics.callSeconds, service, environment)
            unanswered = registry.counter(AppleMetrics.unanswered, service, environment)
            openings = registry.counter(AppleMetrics.openings, service, environment)
            statuses = Dictionary(uniqueKeysWithValues: AppleMetrics.statuses.map { ($0, replies(String($0))) })
            otherStatus = replies("other")
            noResponse = replies("none")
            codes = Dictionary(
                uniqueKeysWithValues: AppleCodeLabel.all(of: endpoint.service).map {
                    ($0, registry.counter(AppleMetrics.codes, service, environment, $0))
                })
        }
    }

    private let registry: PrometheusRegistry
    private let series: [Endpoint: Series]

    init(_ registry: PrometheusRegistry) {
        self.registry = registry
        series = Dictionary(uniqueKeysWithValues: Self.endpoints.map { ($0, Series(registry, of: $0)) })
    }

    private func series(of endpoint: Endpoint) -> Series? { series[Endpoint(endpoint.service, endpoint.environment)] }

    /// Calls to an endpoint were stopped.
    func opened(_ endpoint: Endpoint) { series(of: endpoint)?.openings.increment() }

    /// The end of a call to Apple.
    /// - Parameters:
    ///   - status: The HTTP status; nil for no response.
    ///   - code: Apple's own number, where the reply has one.
    func called(_ endpoint: Endpoint, took: Duration, hasReplied: Bool, status: Int?, code: Int?) {
        guard let series = series(of: endpoint) else { return }
        series.seconds.record(took)
        (status.map { series.statuses[$0] ?? series.otherStatus } ?? series.noResponse).increment()
        if let code { series.codes[AppleCodeLabel.label(code, of: endpoint.service)]?.increment() }
        if !hasReplied { series.unanswered.increment() }
    }

    /// Shows the gates' state, once a second.
    func show(_ all: [CoreStatus.Gates]) {
        for gates in all {
            let (service, environment) = (gates.service.rawValue, gates.environment.rawValue)
            for (phase, count) in gates.phases {
                registry.gauge(Self.breakers, service, environment, phase).set(count)
            }
            registry.gauge(Self.callLimit, service, environment).set(gates.limit)
            registry.gauge(Self.callsInFlight, service, environment).set(gates.inFlight)
            registry.gauge(Self.callsWaiting, service, environment).set(gates.waiting)
        }
    }
}
