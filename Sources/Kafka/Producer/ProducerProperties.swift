internal import CLibrdkafka
public import Metrics
internal import Scheduling

extension ClientProperties {
    /// An idempotent producer's, for records that all in-sync replicas have within ten seconds or that fail.
    static func producer(_ client: KafkaClientConfiguration) throws(KafkaError) -> ClientProperties {
        var defaults = [
            "enable.idempotence": "true",
            "acks": "all",
            "message.timeout.ms": "10000",
            // Longer than brokers take: librdkafka 2.0.2 spins while a partition has one batch under way and another
            // one that has waited for so long.
            "linger.ms": "25",
            "compression.codec": "lz4",
            // Beyond it the answer to a record is `full`.
            "queue.buffering.max.kbytes": String(32 << 10),
            // A topic that is missing is named as such before its records' time is over.
            "topic.metadata.propagation.max.ms": "5000",
        ]
        // librdkafka knows it by two names, and an operator may use either.
        if client.properties["delivery.timeout.ms"] != nil { defaults["message.timeout.ms"] = nil }
        return try ClientProperties(client, defaults: defaults, rules: producerRules)
    }

    private static let producerRules: [Rule] = [
        ("enable.idempotence", ["true"], "retries would duplicate and reorder records"),
        ("acks", ["all", "-1"], "an acknowledged record could be lost with its leader"),
        ("request.required.acks", ["all", "-1"], "an acknowledged record could be lost with its leader"),
        ("delivery.report.only.error", ["false"], "acknowledgements would never come"),
        ("transactional.id", [], "transactions are not offered"),
    ]
}

/// A producer's metrics. Confined to its thread.
public struct ProducerMetrics {
    public static let outstanding = GaugeDeclaration(
        "kafka_producer_outstanding_records", help: "Records that wait for their acknowledgement.")
    public static let failed = CounterDeclaration(
        "kafka_producer_failed_records_total", help: "Records that brokers or librdkafka did not take, by reason.",
        labels: ["reason"])
    public static let recreations = CounterDeclaration(
        "kafka_producer_recreations_total", help: "Clients that were replaced after a fatal error.")
    public static let errors = CounterDeclaration(
        "kafka_producer_errors_total", help: "Errors that librdkafka reported, most of which it overcomes by itself.",
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
    func count(error failure: KafkaFailure) { registry.counter(Self.errors, failure.name).increment() }
}
