internal import CLibrdkafka

/// A kind of request, numbered as in the Kafka protocol.
public struct KafkaRequestKind: Sendable, Hashable {
    /// The protocol's `api_key`.
    public let apiKey: Int16

    /// The request with this `api_key`.
    public init(apiKey: Int16) { self.apiKey = apiKey }

    /// Records on their way to the log.
    public static let produce = Self(apiKey: 0)
    /// Records on their way to a consumer.
    public static let fetch = Self(apiKey: 1)
    /// Topics, partitions, leaders.
    public static let metadata = Self(apiKey: 3)
    /// A group's progress being written down.
    public static let offsetCommit = Self(apiKey: 8)
    /// A group's progress being looked up.
    public static let offsetFetch = Self(apiKey: 9)
    /// Which broker looks after a group.
    public static let findCoordinator = Self(apiKey: 10)
    /// A member joining its group.
    public static let joinGroup = Self(apiKey: 11)
    /// A member's sign of life.
    public static let heartbeat = Self(apiKey: 12)
}

/// An error that a mock broker answers with, numbered as in the Kafka protocol.
public struct KafkaInjectedError: Sendable, Hashable {
    /// The protocol's error code, or librdkafka's for what is not an answer.
    public let code: Int32

    /// The error with this code.
    public init(code: Int32) { self.code = code }

    /// No answer: the connection is closed.
    public static let disconnect = Self(code: -195)
    /// An answer without error, to let requests between two faults pass.
    public static let none = Self(code: 0)
    /// The broker is not the partition's leader any more.
    public static let notLeader = Self(code: 6)
    /// The broker had no acknowledgement in time.
    public static let requestTimedOut = Self(code: 7)
    /// The record is larger than the topic allows.
    public static let messageTooLarge = Self(code: 10)
    /// The broker does not look after this group any more.
    public static let notCoordinator = Self(code: 16)
    /// Fewer replicas are in sync than the topic demands.
    public static let notEnoughReplicas = Self(code: 19)
    /// The member's generation is over.
    public static let illegalGeneration = Self(code: 22)
    /// The group does not know this member: its session ran out.
    public static let unknownMember = Self(code: 25)
    /// Another member has joined under the same static name.
    public static let fencedInstanceID = Self(code: 82)
    /// The client may not use this topic.
    public static let topicAuthorizationFailed = Self(code: 29)
    /// The idempotent producer's numbers do not follow one another.
    public static let outOfOrderSequence = Self(code: 45)
}

extension KafkaMockCluster {
    /// Answers the next requests of this kind, whichever broker they reach, with these errors, one each.
    public func pushRequestErrors(_ kind: KafkaRequestKind, _ errors: [KafkaInjectedError]) {
        let codes = errors.map { rd_kafka_resp_err_t(rawValue: $0.code) }
        rd_kafka_mock_push_request_errors_array(cluster, kind.apiKey, codes.count, codes)
    }

    /// Answers the next requests of this kind to one broker, each after its own delay (whole milliseconds).
    /// - Throws: `rejected` or `transient` when there is no such broker.
    public func pushRequestErrors(
        _ kind: KafkaRequestKind, broker: Int32, _ errors: [(error: KafkaInjectedError, roundTrip: Duration)]
    ) throws(KafkaError) {
        for (error, roundTrip) in errors {
            try check(
                grantor_mock_push_error_rtt(
                    cluster, broker, kind.apiKey, rd_kafka_resp_err_t(rawValue: error.code),
                    roundTrip.pollMilliseconds))
        }
    }

    /// Forgets errors that were pushed for all brokers and have met no request.
    public func clearRequestErrors(_ kind: KafkaRequestKind) {
        rd_kafka_mock_clear_request_errors(cluster, kind.apiKey)
    }

    /// Closes a broker's connections and accepts none until `setUp`.
    public func setDown(broker: Int32) throws(KafkaError) {
        try check(rd_kafka_mock_broker_set_down(cluster, broker))
    }

    /// Lets a broker accept connections again.
    public func setUp(broker: Int32) throws(KafkaError) {
        try check(rd_kafka_mock_broker_set_up(cluster, broker))
    }

    /// Delays each of a broker's answers, whole milliseconds.
    public func setRoundTrip(_ duration: Duration, broker: Int32) throws(KafkaError) {
        try check(rd_kafka_mock_broker_set_rtt(cluster, broker, duration.pollMilliseconds))
    }

    /// Moves a partition to another leader; `nil` leaves it without one.
    public func setLeader(of partition: KafkaPartition, broker: Int32?) throws(KafkaError) {
        try check(rd_kafka_mock_partition_set_leader(cluster, partition.topic, partition.index, broker ?? -1))
    }

    /// Moves a group to another coordinator.
    public func setCoordinator(ofGroup group: String, broker: Int32) throws(KafkaError) {
        try check(rd_kafka_mock_coordinator_set(cluster, "group", group, broker))
    }

    /// Reports this error for a topic in metadata; `nil` takes it back.
    public func setTopicError(_ error: KafkaInjectedError?, topic: String) {
        rd_kafka_mock_topic_set_error(cluster, topic, rd_kafka_resp_err_t(rawValue: error?.code ?? 0))
    }
}
