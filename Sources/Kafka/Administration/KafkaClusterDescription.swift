internal import CLibrdkafka

/// A cluster's answer about itself.
public struct KafkaClusterDescription: Sendable, Equatable {
    /// One broker as it is advertised to clients.
    public struct Broker: Sendable, Hashable {
        /// Its number.
        public let id: Int32
        /// Its name or address.
        public let host: String
        /// Its port.
        public let port: Int32
    }

    /// The state of one topic's partitions.
    public struct Partitions: Sendable, Hashable {
        /// How many there are.
        public let count: Int
        /// Those that can be neither read nor written at present.
        public let leaderless: Int
        /// Fewest copies that one of them has, and fewest of those that are in sync.
        public let replicas: Int
        public let inSyncReplicas: Int
    }

    /// One topic that was asked about.
    public enum Topic: Sendable, Hashable {
        case present(Partitions)
        /// There is none of this name.
        case missing
        /// The cluster does not tell; a missing right is `denied`.
        case failed(KafkaError)
    }

    /// All brokers, by number.
    public let brokers: [Broker]
    /// The topics asked about.
    public internal(set) var topics: [String: Topic]

    init(brokers: [Broker], topics: [String: Topic]) {
        self.brokers = brokers
        self.topics = topics
    }

    init(_ metadata: rd_kafka_metadata) {
        let brokers = UnsafeMutableBufferPointer(start: metadata.brokers, count: Int(metadata.broker_cnt)).map {
            (broker: rd_kafka_metadata_broker) in
            Broker(id: broker.id, host: broker.host.map { String(cString: $0) } ?? "", port: Int32(broker.port))
        }
        self.brokers = brokers.sorted { $0.id < $1.id }
        topics = [:]
        for topic in UnsafeMutableBufferPointer(start: metadata.topics, count: Int(metadata.topic_cnt)) {
            topics[String(cString: topic.topic)] = Topic(topic)
        }
    }
}

extension KafkaClusterDescription.Topic {
    init(_ topic: rd_kafka_metadata_topic) {
        switch topic.err {
        case RD_KAFKA_RESP_ERR_NO_ERROR, RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE:
            let partitions = UnsafeMutableBufferPointer(start: topic.partitions, count: Int(topic.partition_cnt))
            self = .present(
                .init(
                    count: partitions.count, leaderless: partitions.count { $0.leader < 0 },
                    replicas: Int(partitions.map(\.replica_cnt).min() ?? 0),
                    inSyncReplicas: Int(partitions.map(\.isr_cnt).min() ?? 0)))
        case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC: self = .missing
        default: self = .failed(KafkaError(topic.err))
        }
    }
}
