/// The librdkafka properties of one client: the wrapper's defaults, then the operator's, minus what may not be changed.
struct ClientProperties: Sendable {
    /// A property that the operator may set to nothing but `allowed`.
    struct Guard: Sendable {
        let key: String
        let allowed: Set<String>
        let reason: String
    }

    private(set) var values: [String: String]

    init(
        _ configuration: KafkaClientConfiguration, defaults: [String: String], guards: [Guard]
    ) throws(KafkaError) {
        for rule in Self.commonGuards + guards {
            guard let value = configuration.properties[rule.key], !rule.allowed.contains(value) else { continue }
            throw .refusedProperty(key: rule.key, reason: rule.reason)
        }
        values = [
            "bootstrap.servers": configuration.bootstrapServers,
            "client.id": configuration.clientID,
            "statistics.interval.ms": String(configuration.statisticsInterval.pollMilliseconds),
            "socket.nagle.disable": "true",
            "socket.keepalive.enable": "true",
            // Without it librdkafka writes to standard error from its own threads.
            "log.queue": "true",
        ]
        values.merge(defaults) { _, new in new }
        values.merge(configuration.properties) { _, new in new }
    }

    /// Values that may be seen nowhere: passwords, private keys and tokens, by the names that librdkafka gives them.
    var secrets: [String] {
        values.filter { key, value in
            !value.isEmpty
                && ["password", "secret", "key.pem", "oauthbearer.config"].contains { key.contains($0) }
        }
        .map(\.value)
    }

    /// Sets what holds whatever the operator set: for clients that an operator's file was not written for.
    mutating func force(_ forced: [String: String]) {
        values.merge(forced) { _, new in new }
    }

    private static let commonGuards = [
        Guard(key: "bootstrap.servers", allowed: [], reason: "set by bootstrapServers"),
        Guard(key: "metadata.broker.list", allowed: [], reason: "set by bootstrapServers"),
        Guard(key: "client.id", allowed: [], reason: "set by clientID"),
        Guard(key: "statistics.interval.ms", allowed: [], reason: "set by statisticsInterval"),
        Guard(key: "log.queue", allowed: ["true"], reason: "logs are handed to swift-log through it"),
    ]
}
