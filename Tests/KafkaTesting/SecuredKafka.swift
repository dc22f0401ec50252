import CLibrdkafka
public import Kafka

/// A right that a user of a ``SecuredKafka`` may be given.
public enum TestRight: Hashable, Sendable {
    case readTopic(String)
    case writeTopic(String)
    case describeTopic(String)
    case readGroup(String)
    case describeGroup(String)

    var name: String {
        switch self {
        case .readTopic(let name), .writeTopic(let name), .describeTopic(let name), .readGroup(let name),
            .describeGroup(let name):
            name
        }
    }

    var resource: rd_kafka_ResourceType_t {
        switch self {
        case .readTopic, .writeTopic, .describeTopic: RD_KAFKA_RESOURCE_TOPIC
        case .readGroup, .describeGroup: RD_KAFKA_RESOURCE_GROUP
        }
    }

    var operation: rd_kafka_AclOperation_t {
        switch self {
        case .readTopic, .readGroup: RD_KAFKA_ACL_OPERATION_READ
        case .writeTopic: RD_KAFKA_ACL_OPERATION_WRITE
        case .describeTopic, .describeGroup: RD_KAFKA_ACL_OPERATION_DESCRIBE
        }
    }
}

/// A broker of Apache Kafka with a second listener, whose one user has a password and no right but those that it is
/// given.
public final class SecuredKafka: Sendable {
    static let user = "worker"
    static let password = "worker-secret"

    /// The same broker as everybody's who comes without a password, and may do everything.
    public let kafka: TestKafka
    private let address: String

    public init() throws(TestKafkaError) {
        guard case .apache(let home) = TestKafka.kind else {
            throw TestKafkaError("users with passwords are Apache Kafka's: set KAFKA_HOME")
        }
        let cluster = try ApacheCluster(home: home, isSecured: true)
        kafka = TestKafka(broker: cluster)
        address = cluster.brokers.first?.secureAddress ?? ""
    }

    /// A client that is the user.
    /// - Parameter properties: instead of, or beside, those of its setup.
    public func client(_ properties: [String: String] = [:]) -> KafkaClientConfiguration {
        var client = kafka.client
        client.bootstrapServers = address
        client.properties.merge([
            "security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN", "sasl.username": Self.user,
            "sasl.password": Self.password,
        ]) { $1 }
        client.properties.merge(properties) { $1 }
        return client
    }

    /// Gives the user a right; the broker knows of it a moment later.
    public func give(_ right: TestRight) throws(TestKafkaError) { try kafka.give(right, to: Self.user) }

    /// Takes a right that the user was given; the broker knows of it a moment later.
    public func take(_ right: TestRight) throws(TestKafkaError) { try kafka.take(right, from: Self.user) }
}
