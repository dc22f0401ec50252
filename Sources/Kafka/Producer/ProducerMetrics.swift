public import Metrics

/// A producer's metrics. Confined to its thread.
public struct ProducerMetrics {
    public static let outstanding = GaugeDeclaration(
        "grantor_kafka_producer_outstanding_records", help: "Records that wait for their acknowledgement.")
    public static let failed = CounterDeclaration(
        "grantor_kafka_producer_failed_records_total",
        help: "Records that brokers or librdkafka did not take, by reason.",
        labels: ["reason"])
    public static let recreations = CounterDeclaration(
        "grantor_kafka_producer_recreations_total", help: "Clients that were replaced after a fatal error.")
    public static let errors = CounterDeclaration(
        "grantor_kafka_producer_errors_total",
        help: "Errors that librdkafka reported, most of which it overcomes by itself.",
        labels: ["code"])

    private let registry: PrometheusRegistry
    let outstanding: Gauge
    let recreations: Counter

    init(_ registry: PrometheusRegistry) {
        self.registry = registry
        outstanding = registry.gauge(Self.outstanding)
        recreations = registry.counter(Self.recreations)
    }

    func count(_ refusal: KafkaRefusal) { registry.counter(Self.failed, refusal.name).increment() }
    func count(error failure: KafkaFailure) { registry.counter(Self.errors, failure.name.lowercased()).increment() }
}
