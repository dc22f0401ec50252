public import Metrics

/// What every client needs to reach the cluster and be seen.
public struct KafkaClientConfiguration: Sendable {
    /// Where to find the cluster first: `host:port`, separated by commas. Several, so that one may be away.
    public var bootstrapServers: String
    /// How brokers' logs and quotas know this client.
    public var clientID: String
    /// How often librdkafka's statistics become metrics; whole milliseconds, zero for never. Default 10 s.
    public var statisticsInterval: Duration
    /// librdkafka properties passed through (SASL, TLS, tuning); they win over this wrapper's defaults. Those that its
    /// guarantees rest on are refused. Values are never logged.
    public var properties: [String: String]
    /// Where metrics go; `nil` for the process's own system.
    public var metricsFactory: (any MetricsFactory)?

    /// Defaults for everything but the address.
    public init(
        bootstrapServers: String, clientID: String = "swift-kafka", statisticsInterval: Duration = .seconds(10),
        properties: [String: String] = [:], metricsFactory: (any MetricsFactory)? = nil
    ) {
        self.bootstrapServers = bootstrapServers
        self.clientID = clientID
        self.statisticsInterval = statisticsInterval
        self.properties = properties
        self.metricsFactory = metricsFactory
    }
}
