import Fulfillment
import Glibc
import Logging
import Metrics

/// The process's log and metrics, set up once before anything else is made.
struct Observability: Sendable {
    let logger: Logger
    private let registry: PrometheusRegistry

    /// Makes the configured log and the metrics registry those of the whole process.
    static func start(_ settings: LogSettings) -> Observability {
        let clock = SystemClock()
        LogDestination(settings: settings, now: { clock.now() }).bootstrap()
        let registry = PrometheusRegistry()
        MetricsSystem.bootstrap(registry)
        DescriptorWriter.standardError.count(with: Counter(label: "grantor_log_lines_lost_total"))
        atexit { DescriptorWriter.standardError.finish(within: .seconds(1)) }
        return Observability(logger: Logger(label: "grantor"), registry: registry)
    }

    /// The service that answers for a worker's health and metrics.
    func health<State: HealthState>(at bind: HTTPBind, state: State) -> HealthService<State> {
        let logger = logger
        return HealthService(
            bind: bind, state: state, metrics: { [registry] in registry.render() },
            logger: logger.with(label: "health"),
            onRunning: { port in logger.info("Health and metrics are served", metadata: ["port": "\(port)"]) })
    }
}
