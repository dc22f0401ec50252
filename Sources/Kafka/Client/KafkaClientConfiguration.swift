/// The part of a client's configuration that reaching the cluster and being seen there needs.
public struct KafkaClientConfiguration: Sendable {
    /// Addresses of some of the cluster's brokers: `host:port`, separated by commas. Several, so that one may be away.
    public var bootstrapServers: String
    /// The name that brokers' logs and quotas know this client by.
    public var clientID: String
    /// librdkafka properties passed through (SASL, TLS, tuning); they win over this module's defaults. Those that its
    /// guarantees rest on are refused. Values are never logged.
    public var properties: [String: String]

    /// Defaults for everything but the address.
    public init(bootstrapServers: String, clientID: String = "grantor", properties: [String: String] = [:]) {
        self.bootstrapServers = bootstrapServers
        self.clientID = clientID
        self.properties = properties
    }
}
