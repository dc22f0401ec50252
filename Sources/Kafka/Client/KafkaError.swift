package import CLibrdkafka
package import Contract
internal import Threading

/// The reason of a failed Kafka operation, by what the caller can do about it.
public enum KafkaError: Error, Sendable, Hashable {
    /// librdkafka does not know the property, it refuses the value, or this module's guarantees need another value. The
    /// text repeats no value, which may be a secret. The operator corrects the configuration.
    case refusedProperty(key: String, text: String)
    /// The properties contradict one another, or a file that they name cannot be used.
    case invalidConfiguration(KafkaFailure)
    /// Credentials or access rights do not allow it. The operator changes them; trying again alone does not help.
    case denied(KafkaFailure)
    /// The cluster will never accept this request or record as it is, or holds records that cannot be read. The caller
    /// changes the request, or does without the records.
    case rejected(KafkaFailure)
    /// A fault that passes: a broker is away, a leader moves, a time limit was reached. The caller tries again.
    case transient(KafkaFailure)
    /// The client cannot go on. The caller closes it and makes another.
    case fatal(KafkaFailure)
    /// The operating system gave no descriptor, thread or memory. The process stops, its supervisor starts it again.
    case resourcesExhausted(String)

    public enum Disposition: Sendable, Hashable {
        case retry
        case recreate
        case configuration
        case reject
    }

    public var disposition: Disposition {
        switch self {
        case .refusedProperty, .invalidConfiguration, .denied: .configuration
        case .rejected: .reject
        case .transient: .retry
        case .fatal, .resourcesExhausted: .recreate
        }
    }

    /// The property for which the configuration is refused, if it is one property.
    public var property: String? { if case .refusedProperty(let key, _) = self { key } else { nil } }

    /// The words of librdkafka or the broker, if one of them failed.
    public var failure: KafkaFailure? {
        switch self {
        case .invalidConfiguration(let failure), .denied(let failure), .rejected(let failure),
            .transient(let failure), .fatal(let failure):
            failure
        default: nil
        }
    }
}

extension KafkaError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .refusedProperty(_, let text), .resourcesExhausted(let text): text
        case .invalidConfiguration(let failure), .denied(let failure), .rejected(let failure),
            .transient(let failure), .fatal(let failure):
            "\(failure)"
        }
    }
}

/// The words of librdkafka or a broker about a failure.
public struct KafkaFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// librdkafka's number for it: negative for faults of the client, else the Kafka protocol's error code.
    public let code: Int32
    /// The code's name without its prefix, like `_MSG_TIMED_OUT` or `TOPIC_AUTHORIZATION_FAILED`.
    public let name: String
    public let text: String

    public var description: String { "\(name): \(text)" }
}

extension KafkaFailure {
    init(_ code: rd_kafka_resp_err_t, text: String? = nil) {
        self.init(
            code: code.rawValue, name: rd_kafka_err2name(code).map(String.init(cString:)) ?? "UNKNOWN",
            text: text ?? rd_kafka_err2str(code).map(String.init(cString:)) ?? "")
    }
}

extension KafkaError {
    /// The error for a librdkafka code. Unknown codes count as passing, because giving up work that could have
    /// succeeded is the worse mistake.
    package init(_ code: rd_kafka_resp_err_t, text: String? = nil) {
        let failure = KafkaFailure(code, text: text)
        switch code {
        case RD_KAFKA_RESP_ERR__FATAL, RD_KAFKA_RESP_ERR__FENCED, RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID:
            self = .fatal(failure)
        case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED,
            RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED, RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED,
            RD_KAFKA_RESP_ERR__AUTHENTICATION, RD_KAFKA_RESP_ERR_UNSUPPORTED_SASL_MECHANISM,
            RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED:
            self = .denied(failure)
        case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, RD_KAFKA_RESP_ERR_INVALID_MSG, RD_KAFKA_RESP_ERR_INVALID_RECORD,
            RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE, RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP,
            RD_KAFKA_RESP_ERR__INVALID_ARG, RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION, RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION,
            RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS, RD_KAFKA_RESP_ERR_INVALID_PARTITIONS,
            RD_KAFKA_RESP_ERR_INVALID_REPLICATION_FACTOR, RD_KAFKA_RESP_ERR_INVALID_CONFIG,
            RD_KAFKA_RESP_ERR_POLICY_VIOLATION, RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE,
            RD_KAFKA_RESP_ERR_UNSUPPORTED_VERSION, RD_KAFKA_RESP_ERR_INVALID_REQUIRED_ACKS:
            self = .rejected(failure)
        default: self = .transient(failure)
        }
    }

    /// Whether a message says that librdkafka could not read the records at an offset. It reads on behind them, or
    /// tries them again for ever. Its other errors end, or are tried again by itself.
    package static func isOfRecords(_ code: rd_kafka_resp_err_t, at offset: Int64) -> Bool {
        let codes = [
            RD_KAFKA_RESP_ERR__BAD_MSG, RD_KAFKA_RESP_ERR__BAD_COMPRESSION, RD_KAFKA_RESP_ERR__NOT_IMPLEMENTED,
            RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE,
        ]
        return offset >= 0 && codes.contains(code)
    }

    /// A batch that nobody can read, with its partition and offset; see ``isOfRecords(_:at:)``.
    package static func unreadableBatch(
        of partition: TopicPartition, at offset: Int64, _ code: rd_kafka_resp_err_t, text: String?
    ) -> KafkaError {
        let damage = [RD_KAFKA_RESP_ERR__BAD_MSG, RD_KAFKA_RESP_ERR__BAD_COMPRESSION]
        let words = damage.contains(code) ? "is damaged and cannot be read" : "cannot be read"
        let cause = KafkaFailure(code, text: text)
        return .rejected(
            KafkaFailure(code, text: "a batch of \(partition) at offset \(offset) \(words): \(cause.text)"))
    }

    /// Takes over `error`, which librdkafka's newer calls return, frees it and throws; nil is success.
    static func check(taking error: OpaquePointer?) throws(KafkaError) {
        guard let error else { return }
        defer { rd_kafka_error_destroy(error) }
        let text = rd_kafka_error_string(error).map(String.init(cString:))
        let classified = KafkaError(rd_kafka_error_code(error), text: text)
        if rd_kafka_error_is_fatal(error) != 0, let failure = classified.failure { throw .fatal(failure) }
        throw classified
    }

    package static func check(_ code: rd_kafka_resp_err_t) throws(KafkaError) {
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else { throw KafkaError(code) }
    }

    /// A C call reports that there is no memory left.
    static func noMemory(for call: String) -> KafkaError { .resourcesExhausted("the system refused \(call)") }
    init(_ error: ThreadingError) { self = .resourcesExhausted("\(error)") }
}
