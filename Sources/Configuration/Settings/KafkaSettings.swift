public import Contract

/// Where the cluster is, and what is read and written there.
public struct KafkaSettings: Hashable, Sendable {
    /// `host:port`, separated by commas.
    public let bootstrapServers: String
    public let groupID: String
    /// A name for static membership; nil for none, or for the property's.
    public let groupInstanceID: String?
    /// Nil if no file of properties is set.
    public let propertiesFile: PropertiesFile?
    public let topics: TopicNames

    /// Reads the part of the configuration that concerns Kafka, and the file of properties.
    public init(_ values: SettingValues) throws(ConfigurationError) {
        bootstrapServers = try values.value(Settings.bootstrapServers)
        groupID = try values.value(Settings.groupID)
        groupInstanceID = try values.value(Settings.groupInstanceID)
        propertiesFile = try values.value(Settings.propertiesFile)
        topics = try TopicNames(values)
    }

    /// The properties as librdkafka takes them. Values may be secret.
    public var revealedProperties: [String: String] {
        propertiesFile?.properties.mapValues { $0.value.revealed() } ?? [:]
    }
}

/// The names of the four topics; no two are the same.
public struct TopicNames: Hashable, Sendable {
    private let names: [Topic: String]

    init(_ values: SettingValues) throws(ConfigurationError) {
        var names: [Topic: String] = [:]
        for topic in Topic.allCases {
            let name = try values.value(Settings.topic(topic))
            if let other = Topic.allCases.first(where: { names[$0] == name }) {
                let places = (
                    values.place(Settings.topic(other).name), values.place(Settings.topic(topic).name)
                )
                throw .contradiction(places.0, places.1, problem: "must name different topics")
            }
            names[topic] = name
        }
        self.names = names
    }

    /// The name of a topic on the broker.
    public subscript(_ topic: Topic) -> String { names[topic] ?? topic.defaultName }
}
