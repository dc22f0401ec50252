internal import CLibrdkafka

/// One question of librdkafka's admin interface: asked, waited for and freed.
enum AdminRequest {
    /// Time beyond a request's own limit, after which librdkafka answers by itself; it only keeps a wait from being for
    /// ever.
    private static let margin = Duration.seconds(5)

    /// Asks and waits.
    ///
    /// - Parameters:
    ///   - ask: gives the request to librdkafka, with the options and the queue for its answer.
    ///   - read: takes the answer out of an event without error.
    static func run<Answer>(
        _ handle: ClientHandle, _ operation: rd_kafka_admin_op_t, timeout: Duration,
        ask: (_ options: OpaquePointer, _ queue: OpaquePointer) -> Void,
        read: (_ event: OpaquePointer) throws(KafkaError) -> Answer
    ) throws(KafkaError) -> Answer {
        let queue = try ClientQueue.make(handle)
        guard let options = rd_kafka_AdminOptions_new(handle.pointer, operation) else {
            throw .noMemory(for: "rd_kafka_AdminOptions_new")
        }
        defer { rd_kafka_AdminOptions_destroy(options) }
        rd_kafka_AdminOptions_set_request_timeout(options, timeout.wholeMilliseconds, nil, 0)
        ask(options, queue.pointer)
        guard let event = queue.nextEvent(milliseconds: (timeout + margin).wholeMilliseconds) else {
            throw KafkaError(RD_KAFKA_RESP_ERR__TIMED_OUT)
        }
        let code = rd_kafka_event_error(event.pointer)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else {
            throw KafkaError(code, text: rd_kafka_event_error_string(event.pointer).map(String.init(cString:)))
        }
        return try read(event.pointer)
    }
}
