import Contract
import Synchronization

@testable import Commands
@testable import Kafka

/// A cluster whose state a test sets, and which notes the topics that were made.
struct FixedCluster: ClusterAdmin {
    final class Created: Sendable {
        private let topics = Mutex<[KafkaNewTopic]>([])

        var all: [KafkaNewTopic] { topics.withLock { $0 } }

        func add(_ new: [KafkaNewTopic]) { topics.withLock { $0 += new } }
    }

    static let away = KafkaError.transient(KafkaFailure(code: -195, name: "_TRANSPORT", text: "Connection refused"))

    var brokers = 3
    var topics: [String: KafkaClusterDescription.Topic] = [:]
    var properties: [String: [String: String]] = [:]
    /// The failure of every call but ``create(_:)``.
    var failure: KafkaError?
    var creationFailures: [String: KafkaError] = [:]
    let created = Created()

    /// A cluster with all topics as `grantor topics create` makes them.
    static var complete: FixedCluster {
        var cluster = FixedCluster()
        for topic in Topic.allCases {
            cluster.topics[topic.defaultName] = .present(partitions())
            cluster.properties[topic.defaultName] = TopicRequirements.configuration(of: topic, replicas: 3)
        }
        return cluster
    }

    static func partitions(
        leaderless: Int = 0, replicas: Int = 3, inSync: Int = 3
    ) -> KafkaClusterDescription.Partitions {
        KafkaClusterDescription.Partitions(
            count: 12, leaderless: leaderless, replicas: replicas, inSyncReplicas: inSync)
    }

    func describe() throws(KafkaError) -> KafkaClusterDescription {
        if let failure { throw failure }
        return KafkaClusterDescription(
            brokers: (0..<brokers).map { .init(id: Int32($0), host: "kafka-\($0)", port: 9092) }, topics: topics)
    }

    func configurations(of topics: [String]) throws(KafkaError) -> [String: Result<[String: String], KafkaError>] {
        if let failure { throw failure }
        return properties.filter { topics.contains($0.key) }.mapValues { .success($0) }
    }

    func create(_ topics: [KafkaNewTopic]) throws(KafkaError) -> [String: KafkaError?] {
        created.add(topics)
        return Dictionary(uniqueKeysWithValues: topics.map { ($0.name, creationFailures[$0.name]) })
    }
}
