internal import CLibrdkafka
public import Metrics
internal import Scheduling

/// The way a producer batches, compresses and gives up.
public struct KafkaProducerConfiguration: Sendable {
    /// Addresses and pass-through properties.
    public var client: KafkaClientConfiguration
    /// Topics whose metadata is requested at once, so that their first records do not wait for it. The wait is up to a
    /// second in librdkafka before 2.10.1.
    public var topics: [String]
    /// Longest wait of a record for its acknowledgement; then it fails with `timedOut`. The only clock of publishing.
    public var messageTimeout: Duration
    /// Time that a batch is kept open for more records.
    public var linger: Duration
    /// KiB that may wait to be acknowledged; beyond it the answer to a record is `full`.
    public var bufferedKilobytes: Int

    /// Defaults for everything but the addresses: ten seconds, ten milliseconds, 32 MiB.
    public init(
        client: KafkaClientConfiguration, topics: [String] = [], messageTimeout: Duration = .seconds(10),
        linger: Duration = .milliseconds(10), bufferedKilobytes: Int = 32 << 10
    ) {
        self.client = client
        self.topics = topics
        self.messageTimeout = messageTimeout
        self.linger = linger
        self.bufferedKilobytes = bufferedKilobytes
    }

    func properties() throws(KafkaError) -> ClientProperties {
        var defaults = [
            "enable.idempotence": "true",
            "acks": "all",
            "message.timeout.ms": String(messageTimeout.wholeMilliseconds),
            "linger.ms": String(linger.wholeMilliseconds),
            "compression.codec": "lz4",
            "queue.buffering.max.kbytes": String(bufferedKilobytes),
            // A topic that is missing is named as such before its records' time is over.
            "topic.metadata.propagation.max.ms": String((messageTimeout / 2).wholeMilliseconds),
        ]
        // librdkafka knows it by two names, and an operator may use either.
        if client.properties["delivery.timeout.ms"] != nil { defaults["message.timeout.ms"] = nil }
        return try ClientProperties(client, defaults: defaults, rules: Self.rules)
    }

    /// Makes a client with exactly the properties that ``KafkaProducer`` would use, and drops it. A producer accepts
    /// the same properties.
    ///
    /// - Throws: a configuration error that names the property, or `resourcesExhausted`.
    public func check() throws(KafkaError) { try properties().check(RD_KAFKA_PRODUCER) }

    private static let rules: [ClientProperties.Rule] = [
        .init(key: "enable.idempotence", allowed: ["true"], reason: "retries would duplicate and reorder records"),
        .init(key: "acks", allowed: ["all", "-1"], reason: "an acknowledged record could be lost with its leader"),
        .init(
            key: "request.required.acks", allowed: ["all", "-1"],
            reason: "an acknowledged record could be lost with its leader"),
        .init(key: "delivery.report.only.error", allowed: ["false"], reason: "acknowledgements would never come"),
        .init(key: "transactional.id", allowed: [], reason: "transactions are not offered"),
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
