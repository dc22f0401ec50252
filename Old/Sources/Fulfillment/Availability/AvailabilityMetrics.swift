import Metrics
import Purchases

/// What is measured of the targets of Apple's. Apps are added up: a label for each would make as many series as apps.
struct AvailabilityMetrics: Sendable {
    /// The targets of one service in one environment at one moment.
    struct Summary: Hashable, Sendable {
        let service: AppleService
        let environment: Environment
        private(set) var phases: [Breaker.Phase: Int] = [:]
        /// The least of any app's.
        private(set) var limit: Int?
        private(set) var retries: Int?
        private(set) var inFlight = 0
        private(set) var waiting = 0

        /// One for each service and environment.
        static func of(_ targets: [TargetCalls]) -> [Summary] {
            AppleService.allCases.flatMap { service in
                Environment.allCases.map { environment in
                    var summary = Summary(service: service, environment: environment)
                    for calls in targets
                    where calls.target.service == service && calls.target.environment == environment {
                        summary.add(calls)
                    }
                    return summary
                }
            }
        }

        private init(service: AppleService, environment: Environment) {
            self.service = service
            self.environment = environment
        }

        private mutating func add(_ calls: TargetCalls) {
            phases[calls.breaker.phase, default: 0] += 1
            limit = min(limit ?? .max, calls.limit.value)
            retries = min(retries ?? .max, calls.retries.available)
            inFlight += calls.inFlight
            waiting += calls.line.count
        }
    }

    private struct Place: Hashable {
        let service: AppleService
        let environment: Environment
    }

    private struct Gauges {
        let phases: [Breaker.Phase: Gauge]
        let limit: Gauge
        let retries: Gauge
        let inFlight: Gauge
        let waiting: Gauge
        let openings: Counter
    }

    private let gauges: [Place: Gauges]

    init() {
        var gauges: [Place: Gauges] = [:]
        for service in AppleService.allCases {
            for environment in Environment.allCases {
                gauges[Place(service: service, environment: environment)] = Self.gauges(service, environment)
            }
        }
        self.gauges = gauges
    }

    private static func gauges(_ service: AppleService, _ environment: Environment) -> Gauges {
        let labels = [("service", service.rawValue), ("environment", environment.rawValue)]
        return Gauges(
            phases: Dictionary(
                uniqueKeysWithValues: Breaker.Phase.allCases.map { phase in
                    (phase, Gauge(label: "grantor_apple_breakers", dimensions: labels + [("phase", phase.rawValue)]))
                }),
            limit: Gauge(label: "grantor_apple_call_limit", dimensions: labels),
            retries: Gauge(label: "grantor_apple_retry_budget", dimensions: labels),
            inFlight: Gauge(label: "grantor_apple_calls_in_flight", dimensions: labels),
            waiting: Gauge(label: "grantor_apple_calls_waiting", dimensions: labels),
            openings: Counter(label: "grantor_apple_breaker_openings_total", dimensions: labels))
    }

    /// Shows a moment. What no app uses is shown without a limit and without retries.
    func report(_ summaries: [Summary]) {
        for summary in summaries {
            guard let gauges = gauges[Place(service: summary.service, environment: summary.environment)] else {
                continue
            }
            for (phase, gauge) in gauges.phases { gauge.record(summary.phases[phase] ?? 0) }
            if let limit = summary.limit { gauges.limit.record(limit) }
            if let retries = summary.retries { gauges.retries.record(retries) }
            gauges.inFlight.record(summary.inFlight)
            gauges.waiting.record(summary.waiting)
        }
    }

    /// A target's calls were stopped.
    func opened(_ target: CallTarget) {
        gauges[Place(service: target.service, environment: target.environment)]?.openings.increment()
    }
}
