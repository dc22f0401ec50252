import Configuration
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

    static let notCoordinator = KafkaError.transient(
        KafkaFailure(code: 16, name: "NOT_COORDINATOR", text: "Broker: Not coordinator"))
    static let topicExists = KafkaError.rejected(
        KafkaFailure(code: 36, name: "TOPIC_ALREADY_EXISTS", text: "Broker: Topic already exists"))

    var id: String? = "cluster-1"
    var brokers = 3
    var topics: [String: KafkaClusterDescription.Topic] = [:]
    var properties: [String: [String: String]] = [:]
    /// The failure of every call but ``createTopics(_:)``.
    var failure: KafkaError?
    var committed: [TopicPartition: Int64] = [:]
    /// The failure of the calls that follow ``describe()``: ``committedOffsets(of:in:)`` and
    /// ``topicConfigurations(of:)``.
    var laterFailure: KafkaError?
    var creationFailures: [String: KafkaError] = [:]
    /// Rights that the user has not, by topics, `group NAME` and `cluster`.
    var rights: [String: KafkaRight] = [:]
    /// Topics that the brokers do not list, as they are described by name.
    var hidden: [String: KafkaClusterDescription.Topic] = [:]
    /// Of a broker that is not where it says.
    var unreachable: KafkaError?
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
        return KafkaClusterDescription(id: id, brokers: brokers, topics: topics)
    }

    func topicConfigurations(of topics: [String]) throws(KafkaError) -> [String: Result<[String: String], KafkaError>] {
        if let failure = failure ?? laterFailure { throw failure }
        return properties.filter { topics.contains($0.key) }.mapValues { .success($0) }
    }

    func committedOffsets(
        of group: String, in partitions: [TopicPartition]
    ) throws(KafkaError) -> [TopicPartition: Int64] {
        if let failure = failure ?? laterFailure { throw failure }
        return committed.filter { partitions.contains($0.key) }
    }

    func topic(_ name: String) throws(KafkaError) -> KafkaClusterDescription.Topic { hidden[name] ?? .missing }

    func reachBrokers() throws(KafkaError) { if let unreachable { throw unreachable } }

    func rights(toRead input: String, as group: String, toWrite outputs: [String]) -> KafkaRights {
        KafkaRights(
            group: rights["group \(group)"] ?? .given, input: rights[input] ?? .given,
            outputs: Dictionary(uniqueKeysWithValues: outputs.map { ($0, rights[$0] ?? .given) }),
            idempotence: rights["cluster"] ?? .given)
    }

    func createTopics(_ topics: [KafkaNewTopic]) throws(KafkaError) -> [String: Result<Void, KafkaError>] {
        created.add(topics)
        let results = topics.map { topic in
            (topic.name, creationFailures[topic.name].map(Result<Void, KafkaError>.failure) ?? .success(()))
        }
        return Dictionary(uniqueKeysWithValues: results)
    }
}
