/// How a producer batches, compresses and gives up.
public struct KafkaProducerConfiguration: Sendable {
    /// What librdkafka compresses batches with.
    public enum Compression: String, Sendable, CaseIterable {
        /// Not at all.
        case none
        /// zlib: small, slow.
        case gzip
        /// Fast, fair.
        case snappy
        /// Fast, fair; the default.
        case lz4
        /// Small, moderately fast; brokers from 2.1.
        case zstd
    }

    /// Addresses, pass-through properties, metrics.
    public var client: KafkaClientConfiguration
    /// How long a record may wait for its acknowledgement before it fails. Default 120 s.
    public var messageTimeout: Duration
    /// How long a batch is kept open for more records. Default 5 ms.
    public var linger: Duration
    /// Default `lz4`.
    public var compression: Compression
    /// How many KiB may wait to be acknowledged; `send` waits for room beyond. Default 32768.
    public var bufferedKilobytes: Int
    /// How often within a minute a client in fatal state is replaced. Default 5.
    public var recreationsPerMinute: Int

    /// Defaults for everything but the addresses.
    public init(
        client: KafkaClientConfiguration, messageTimeout: Duration = .seconds(120),
        linger: Duration = .milliseconds(5), compression: Compression = .lz4, bufferedKilobytes: Int = 32768,
        recreationsPerMinute: Int = 5
    ) {
        self.client = client
        self.messageTimeout = messageTimeout
        self.linger = linger
        self.compression = compression
        self.bufferedKilobytes = bufferedKilobytes
        self.recreationsPerMinute = recreationsPerMinute
    }

    func properties() throws(KafkaError) -> ClientProperties {
        var defaults = [
            "enable.idempotence": "true",
            "acks": "all",
            "message.timeout.ms": String(messageTimeout.pollMilliseconds),
            "linger.ms": String(linger.pollMilliseconds),
            "compression.codec": compression.rawValue,
            "queue.buffering.max.kbytes": String(bufferedKilobytes),
        ]
        // librdkafka knows it by two names, and an operator may use either.
        if client.properties["delivery.timeout.ms"] != nil { defaults["message.timeout.ms"] = nil }
        return try ClientProperties(client, defaults: defaults, guards: Self.guards)
    }

    private static let guards: [ClientProperties.Guard] = [
        .init(key: "enable.idempotence", allowed: ["true"], reason: "retries would duplicate and reorder records"),
        .init(key: "acks", allowed: ["all", "-1"], reason: "an acknowledged record could be lost with its leader"),
        .init(
            key: "request.required.acks", allowed: ["all", "-1"],
            reason: "an acknowledged record could be lost with its leader"),
        .init(
            key: "delivery.report.only.error", allowed: ["false"], reason: "senders would wait for ever"),
        .init(key: "transactional.id", allowed: [], reason: "transactions are not offered"),
    ]
}
