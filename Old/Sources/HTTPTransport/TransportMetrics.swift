import Metrics

/// What a transport counts and measures.
///
/// `http_transport_requests_in_flight`, `http_transport_requests_waiting` (gauges, set once per turn of the loop),
/// `http_transport_connections_opened_total`, `http_transport_request_duration_seconds` (timer over responses of every
/// status), `http_transport_errors_total` with the dimension `kind`.
struct TransportMetrics: Sendable {
    private let inFlight: Gauge
    private let waiting: Gauge
    private let connectionsOpened: Counter
    private let duration: Timer
    private let errors: [HTTPTransportError.Kind: Counter]

    init(factory: any MetricsFactory) {
        inFlight = Gauge(label: "http_transport_requests_in_flight", factory: factory)
        waiting = Gauge(label: "http_transport_requests_waiting", factory: factory)
        connectionsOpened = Counter(label: "http_transport_connections_opened_total", factory: factory)
        duration = Timer(label: "http_transport_request_duration_seconds", factory: factory)
        errors = Dictionary(
            uniqueKeysWithValues: HTTPTransportError.Kind.allCases.map { kind in
                let dimensions = [("kind", kind.rawValue)]
                return (kind, Counter(label: "http_transport_errors_total", dimensions: dimensions, factory: factory))
            })
    }

    func set(running: Int, waiting: Int) {
        inFlight.record(running)
        self.waiting.record(waiting)
    }

    func connectionsOpened(_ count: Int) {
        if count > 0 { connectionsOpened.increment(by: count) }
    }

    func record(_ response: HTTPResponse) {
        let (seconds, attoseconds) = response.timings.total.components
        duration.recordNanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }

    func record(_ error: HTTPTransportError) {
        errors[error.kind]?.increment()
    }
}
