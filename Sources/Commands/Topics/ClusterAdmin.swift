import Configuration
import Kafka
import Logging
import Worker

/// A cluster as commands look at it and make topics in it.
protocol ClusterAdmin: Sendable {
    /// All brokers and topics. Naming a topic would make some brokers create it.
    func describe() throws(KafkaError) -> KafkaClusterDescription
    func configurations(of topics: [String]) throws(KafkaError) -> [String: Result<[String: String], KafkaError>]
    /// For each topic nil, or why it was not created.
    func create(_ topics: [KafkaNewTopic]) throws(KafkaError) -> [String: KafkaError?]
}

/// The cluster of the configuration.
struct ConfiguredCluster: ClusterAdmin {
    private let admin: KafkaAdmin

    init(_ settings: KafkaSettings, logger: Logger) {
        admin = KafkaAdmin(configuration: settings.client, logger: logger)
    }

    func describe() throws(KafkaError) -> KafkaClusterDescription { try admin.describe() }

    func configurations(of topics: [String]) throws(KafkaError) -> [String: Result<[String: String], KafkaError>] {
        try admin.topicConfigurations(of: topics)
    }

    func create(_ topics: [KafkaNewTopic]) throws(KafkaError) -> [String: KafkaError?] {
        try admin.createTopics(topics)
    }
}

extension KafkaSettings {
    /// An error in words; one about a property begins with the file and line that set it.
    func words(_ error: KafkaError) -> String {
        let words = PrintableText.singleLine("\(error)")
        guard let key = error.property, let place = propertiesFile?.place(of: key) else { return words }
        return "\(place): \(words)"
    }
}
