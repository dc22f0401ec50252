/// The librdkafka properties of one client: this module's defaults, then the operator's, minus what may not be changed.
struct ClientProperties: Sendable {
    /// A property that the operator may set to nothing but `allowed`.
    struct Rule: Sendable {
        let key: String
        let allowed: Set<String>
        let reason: String
    }

    private(set) var values: [String: String]

    init(_ configuration: KafkaClientConfiguration, defaults: [String: String], rules: [Rule]) throws(KafkaError) {
        for rule in Self.commonRules + rules {
            guard let value = configuration.properties[rule.key], !rule.allowed.contains(value) else { continue }
            throw .refusedProperty(key: rule.key, reason: rule.reason)
        }
        values = [
            "bootstrap.servers": configuration.bootstrapServers,
            "client.id": configuration.clientID,
            // A request to a broker that froze would else hang for a minute.
            "socket.timeout.ms": "10000",
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

    private static let commonRules = [
        Rule(key: "bootstrap.servers", allowed: [], reason: "it has a setting of its own"),
        Rule(key: "metadata.broker.list", allowed: [], reason: "bootstrap.servers has a setting of its own"),
        Rule(key: "client.id", allowed: [], reason: "the program sets it"),
        Rule(key: "statistics.interval.ms", allowed: [], reason: "metrics and the watch over the client rest on it"),
        Rule(key: "log.queue", allowed: ["true"], reason: "logs come through it"),
    ]
}
