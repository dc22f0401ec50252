public import Metrics

/// The client's counts and measures; clients of one registry share them, and the gauges are the last one's.
public struct HTTPClientMetrics: Sendable {
    /// Calls with a place, set once per turn of the loop.
    public static let inFlight = GaugeDeclaration(
        "http_transport_requests_in_flight", help: "HTTPS requests under way.")
    /// Calls that wait for one.
    public static let queued = GaugeDeclaration(
        "http_transport_requests_waiting",
        help: "HTTPS requests that wait for one under way to end; above 0 for long, the limit of calls is too low.")
    /// The price of a connection is some 0.7 ms of processor time on this side.
    public static let connectionsOpened = CounterDeclaration(
        "http_transport_connections_opened_total", help: "HTTPS connections opened.")
    /// Over responses of every status.
    public static let duration = TimerDeclaration(
        "http_transport_request_duration_seconds", help: "From the start of an HTTPS request to its whole response.")
    /// By ``HTTPFailure/Kind``.
    public static let failures = CounterDeclaration(
        "http_transport_errors_total", help: "HTTPS requests without a response, by the kind of failure.",
        labels: ["kind"])

    private let inFlight: Gauge
    private let queued: Gauge
    private let connectionsOpened: Counter
    private let duration: Timer
    private let failures: [HTTPFailure.Kind: Counter]

    init(_ registry: PrometheusRegistry) {
        inFlight = registry.gauge(Self.inFlight)
        queued = registry.gauge(Self.queued)
        connectionsOpened = registry.counter(Self.connectionsOpened)
        duration = registry.timer(Self.duration)
        failures = Dictionary(
            uniqueKeysWithValues: HTTPFailure.Kind.allCases.map { kind in
                (kind, registry.counter(Self.failures, kind.rawValue))
            })
    }

    func set(inFlight: Int, queued: Int) {
        self.inFlight.set(inFlight)
        self.queued.set(queued)
    }

    func connectionsOpened(_ count: Int) {
        if count > 0 { connectionsOpened.increment(by: count) }
    }

    func record(_ result: Result<HTTPResponse, HTTPFailure>) {
        switch result {
        case .success(let response): duration.record(response.timings.total)
        case .failure(let failure): failures[failure.kind]?.increment()
        }
    }
}
