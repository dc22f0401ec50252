internal import CLibrdkafka
internal import Contract
internal import Threading

/// One librdkafka event, freed when this goes.
package struct ClientEvent: ~Copyable {
    enum Content {
        case log(level: Int32, facility: String, text: String)
        case error(rd_kafka_resp_err_t, text: String, isFatal: Bool)
        case statistics(String)
        case rebalance(rd_kafka_resp_err_t, [TopicPartition])
        case committed(rd_kafka_resp_err_t)
        /// Delivery reports, to be read with ``forEachDelivery(_:)``.
        case deliveries
        case other
    }

    package let pointer: OpaquePointer

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
        case RD_KAFKA_EVENT_OFFSET_COMMIT: return .committed(rd_kafka_event_error(pointer))
        case RD_KAFKA_EVENT_DR: return .deliveries
        default: return .other
        }
    }

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

/// One reference to a librdkafka queue, released when this goes. Confined to the thread that made it.
final class ClientQueue {
    let pointer: OpaquePointer

    private init(_ pointer: OpaquePointer?) throws(KafkaError) {
        guard let pointer else { throw .noMemory(for: "rd_kafka_queue_new") }
        self.pointer = pointer
    }

    deinit { rd_kafka_queue_destroy(pointer) }

    /// A queue of its own, for replies.
    static func make(_ handle: ClientHandle) throws(KafkaError) -> ClientQueue {
        try ClientQueue(rd_kafka_queue_new(handle.pointer))
    }

    /// The queue that delivery reports, logs, errors and statistics come out of.
    static func main(_ handle: ClientHandle) throws(KafkaError) -> ClientQueue {
        try ClientQueue(rd_kafka_queue_get_main(handle.pointer)).takingLogs(of: handle)
    }

    /// The consumer's queue with the main queue led into it: rebalances and everything else that is not a record.
    static func consumerControl(_ handle: ClientHandle) throws(KafkaError) -> ClientQueue {
        try KafkaError.check(rd_kafka_poll_set_consumer(handle.pointer))
        return try ClientQueue(rd_kafka_queue_get_consumer(handle.pointer)).takingLogs(of: handle)
    }

    private func takingLogs(of handle: ClientHandle) throws(KafkaError) -> ClientQueue {
        try KafkaError.check(rd_kafka_set_log_queue(handle.pointer, pointer))
        return self
    }

    /// The queue that a partition's records come out of, led nowhere else.
    static func records(of partition: TopicPartition, _ handle: ClientHandle) throws(KafkaError) -> ClientQueue {
        let queue = try ClientQueue(rd_kafka_queue_get_partition(handle.pointer, partition.topic, partition.partition))
        rd_kafka_queue_forward(queue.pointer, nil)
        return queue
    }

    /// Signals a descriptor each time the queue stops being empty: its owner then has to empty it.
    func signal(_ wake: WakeDescriptor) {
        var one: UInt64 = 1
        rd_kafka_queue_io_event_enable(pointer, wake.descriptor, &one, MemoryLayout<UInt64>.size)
    }

    func stopSignalling() { rd_kafka_queue_io_event_enable(pointer, -1, nil, 0) }
    func nextEvent(milliseconds: Int32 = 0) -> ClientEvent? { ClientEvent(rd_kafka_queue_poll(pointer, milliseconds)) }

    /// Takes records without waiting, as many as there are and `buffer` holds. The caller destroys each.
    func takeRecords(into buffer: UnsafeMutableBufferPointer<UnsafeMutablePointer<rd_kafka_message_t>?>) -> Int {
        // An empty queue is left without the wait of no time, which is a system call.
        guard rd_kafka_queue_length(pointer) > 0 else { return 0 }
        return max(rd_kafka_consume_batch_queue(pointer, 0, buffer.baseAddress, buffer.count), 0)
    }
}
