internal import CLibrdkafka
public import Contract

/// A record to publish; it names no partition, because its key decides that.
public struct KafkaProducerRecord: Sendable, Hashable {
    public var topic: String
    /// Decides the partition, by librdkafka's `consistent_random` unless configured otherwise; nil is a null key.
    public var key: [UInt8]?
    public var value: [UInt8]?
    public var headers: [RecordHeader]

    public init(topic: String, key: [UInt8]?, value: [UInt8]?, headers: [RecordHeader] = []) {
        self.topic = topic
        self.key = key
        self.value = value
        self.headers = headers
    }
}

/// The end of a record that the producer accepted. Each has one report, also where the producer is closed before.
public struct KafkaDeliveryReport: Sendable, Hashable {
    public let token: UInt64
    public internal(set) var result: KafkaDelivery
}

/// Whether the brokers have a record.
public enum KafkaDelivery: Sendable, Hashable {
    /// All in-sync replicas have it, at this partition and offset.
    case acknowledged(partition: Int32, offset: Int64)
    /// It was given up. It may stand on the topic all the same, unless the broker refused it.
    case failed(KafkaRefusal)
}

/// The reason that a record was not taken.
public enum KafkaRefusal: Error, Hashable {
    /// Larger than the client, the topic or the broker allows. It never fits: the caller publishes something smaller.
    case tooLarge
    /// The credentials have no right to write to the topic. An operator gives it; the caller tries again later.
    case notAuthorized
    /// The topic does not exist, or not its partition. An operator creates it; the caller tries again later.
    case topicUnknown
    /// No acknowledgement in time: brokers are away or slow. The caller tries again later; the record may stand there.
    case timedOut
    /// The client met a fatal error (fenced, or its sequence numbers do not fit), and is replaced. The caller tries
    /// again; the record may stand there.
    case clientReplaced
    /// The producer was closed before the reply came. The record may be on the topic.
    case closed
    /// Anything else, most of it for the broker's administrator. The caller tries again later.
    case other(KafkaFailure)

    init(_ code: rd_kafka_resp_err_t) {
        switch code {
        case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE: self = .tooLarge
        case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
            self = .notAuthorized
        case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC,
            RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
            self = .topicUnknown
        case RD_KAFKA_RESP_ERR__MSG_TIMED_OUT, RD_KAFKA_RESP_ERR__TIMED_OUT, RD_KAFKA_RESP_ERR__TIMED_OUT_QUEUE:
            self = .timedOut
        case RD_KAFKA_RESP_ERR__FATAL, RD_KAFKA_RESP_ERR__FENCED, RD_KAFKA_RESP_ERR__STATE: self = .clientReplaced
        case RD_KAFKA_RESP_ERR__PURGE_QUEUE, RD_KAFKA_RESP_ERR__PURGE_INFLIGHT: self = .closed
        default: self = .other(KafkaFailure(code))
        }
    }

    /// For people.
    public var words: String {
        switch self {
        case .tooLarge: "an event is larger than the topic or the broker allows"
        case .notAuthorized: "the worker's user has no right to write to it; give it Write on the topic"
        case .topicUnknown: "the topic does not exist"
        case .timedOut: "no acknowledgement in time"
        case .clientReplaced: "the client is being replaced"
        case .closed: "the client was closed"
        case .other(let failure): "\(failure)"
        }
    }

    /// A word for metrics.
    public var name: String {
        switch self {
        case .tooLarge: "too_large"
        case .notAuthorized: "not_authorized"
        case .topicUnknown: "topic_unknown"
        case .timedOut: "timed_out"
        case .clientReplaced: "client_replaced"
        case .closed: "closed"
        case .other(let failure): failure.name
        }
    }
}

/// Whether the producer takes a record.
public enum KafkaAcceptance: Sendable, Hashable {
    /// A delivery report with the token follows.
    case accepted
    /// There is no room; the caller offers the record again after the next delivery reports.
    case full
    /// No report follows.
    case refused(KafkaRefusal)
}
