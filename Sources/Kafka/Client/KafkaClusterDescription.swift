import CLibrdkafka

/// A cluster and some of its topics, as a broker described them at one moment.
public struct KafkaClusterDescription: Sendable, Equatable {
    /// The partitions of one topic.
    public struct Partitions: Sendable, Hashable {
        public let count: Int
        /// Partitions that can be neither read nor written at present.
        public let leaderless: Int
        /// The fewest copies of one of them, and the fewest copies in sync.
        public let replicas: Int
        public let inSyncReplicas: Int
    }

    /// A topic that was asked for.
    public enum Topic: Sendable, Hashable {
        case present(Partitions)
        case missing
        /// The cluster does not say; a missing right is `denied`.
        case failed(KafkaError)
    }

    /// Nil where the brokers name none.
    public let id: String?
    public let brokers: Int
    public let topics: [String: Topic]
}

extension KafkaClusterDescription {
    init(_ metadata: rd_kafka_metadata, id: String?) {
        let topics = UnsafeBufferPointer(start: metadata.topics, count: Int(metadata.topic_cnt))
        self.init(
            id: id, brokers: Int(metadata.broker_cnt),
            topics: topics.reduce(into: [:]) { $0[String(cString: $1.topic)] = Topic($1) })
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
