internal import CLibrdkafka
internal import Threading

extension KafkaFailure {
    init(_ code: rd_kafka_resp_err_t, text: String? = nil) {
        self.init(
            code: code.rawValue,
            name: rd_kafka_err2name(code).map(String.init(cString:)) ?? "UNKNOWN",
            text: text ?? rd_kafka_err2str(code).map(String.init(cString:)) ?? "")
    }
}

extension KafkaError {
    /// The error for a librdkafka code. Codes that are not known here count as passing, because giving up on work that
    /// could have succeeded is the worse mistake.
    init(_ code: rd_kafka_resp_err_t, text: String? = nil) {
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
        default:
            self = .transient(failure)
        }
    }

    /// Takes over `error`, which librdkafka's newer calls return, and frees it. `nil` for success.
    static func taking(_ error: OpaquePointer?) -> KafkaError? {
        guard let error else { return nil }
        defer { rd_kafka_error_destroy(error) }
        let text = rd_kafka_error_string(error).map(String.init(cString:))
        let classified = KafkaError(rd_kafka_error_code(error), text: text)
        if rd_kafka_error_is_fatal(error) != 0, let failure = classified.failure { return .fatal(failure) }
        return classified
    }

    /// Throws the error for `code`, unless it is success.
    static func check(_ code: rd_kafka_resp_err_t) throws(KafkaError) {
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else { throw KafkaError(code) }
    }

    /// There is no memory left, as far as a C call tells.
    static func noMemory(for call: String) -> KafkaError { .resourcesExhausted("the system refused \(call)") }

    init(_ error: ThreadingError) { self = .resourcesExhausted("\(error)") }

    /// Whether another member has joined the group under this one's static name.
    public var isFenced: Bool { failure?.code == RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID.rawValue }
}
