internal import CLibrdkafka

/// One librdkafka event, freed when this goes.
struct ClientEvent: ~Copyable {
    /// An event's content, copied out of librdkafka's memory.
    enum Content {
        case log(level: Int32, facility: String, text: String)
        case error(rd_kafka_resp_err_t, text: String, isFatal: Bool)
        case statistics(String)
        case rebalance(rd_kafka_resp_err_t, [KafkaPartition])
        /// The answer to a commit; per partition where the request as a whole succeeded.
        case committed(rd_kafka_resp_err_t, refused: [KafkaPartition: KafkaError])
        /// Delivery reports, to be read with ``forEachDelivery(_:)``.
        case deliveries
        case other(String)
    }

    let pointer: OpaquePointer

    init?(_ pointer: OpaquePointer?) {
        guard let pointer else { return nil }
        self.pointer = pointer
    }

    deinit { rd_kafka_event_destroy(pointer) }

    var content: Content {
        switch rd_kafka_event_type(pointer) {
        case RD_KAFKA_EVENT_LOG: return log
        case RD_KAFKA_EVENT_ERROR:
            return .error(
                rd_kafka_event_error(pointer), text: string(rd_kafka_event_error_string(pointer)),
                isFatal: rd_kafka_event_error_is_fatal(pointer) != 0)
        case RD_KAFKA_EVENT_STATS: return .statistics(string(rd_kafka_event_stats(pointer)))
        case RD_KAFKA_EVENT_REBALANCE:
            return .rebalance(rd_kafka_event_error(pointer), .all(in: rd_kafka_event_topic_partition_list(pointer)))
        case RD_KAFKA_EVENT_OFFSET_COMMIT:
            return .committed(
                rd_kafka_event_error(pointer), refused: .refused(in: rd_kafka_event_topic_partition_list(pointer)))
        case RD_KAFKA_EVENT_DR: return .deliveries
        default: return .other(string(rd_kafka_event_name(pointer)))
        }
    }

    /// Calls `body` with each delivery report; the pointer is valid during the call only.
    func forEachDelivery(_ body: (UnsafePointer<rd_kafka_message_t>) -> Void) {
        while let message = rd_kafka_event_message_next(pointer) { body(message) }
    }

    private var log: Content {
        var facility: UnsafePointer<CChar>?
        var text: UnsafePointer<CChar>?
        var level: Int32 = 0
        rd_kafka_event_log(pointer, &facility, &text, &level)
        return .log(level: level, facility: string(facility), text: string(text))
    }

    private func string(_ text: UnsafePointer<CChar>?) -> String { text.map(String.init(cString:)) ?? "" }
}
