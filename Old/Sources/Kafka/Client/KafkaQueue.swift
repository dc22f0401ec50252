internal import CLibrdkafka

/// One reference to a librdkafka queue, released when this goes.
///
/// Confined to the thread that made it.
final class KafkaQueue {
    let pointer: OpaquePointer

    private init(_ pointer: OpaquePointer?) throws(KafkaError) {
        guard let pointer else { throw .resourcesExhausted("rd_kafka_queue", errno: 0) }
        self.pointer = pointer
    }

    deinit { rd_kafka_queue_destroy(pointer) }

    /// A queue of one's own, to which others can be forwarded.
    static func make(_ handle: KafkaHandle) throws(KafkaError) -> KafkaQueue {
        try KafkaQueue(rd_kafka_queue_new(handle.pointer))
    }

    /// The queue that delivery reports, logs, errors and statistics come out of.
    static func main(_ handle: KafkaHandle) throws(KafkaError) -> KafkaQueue {
        let queue = try KafkaQueue(rd_kafka_queue_get_main(handle.pointer))
        return try queue.takingLogs(of: handle)
    }

    /// The consumer's queue with the main queue led into it: rebalances and everything else that is not a record.
    static func consumerControl(_ handle: KafkaHandle) throws(KafkaError) -> KafkaQueue {
        let code = rd_kafka_poll_set_consumer(handle.pointer)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else { throw KafkaError(code) }
        return try KafkaQueue(rd_kafka_queue_get_consumer(handle.pointer)).takingLogs(of: handle)
    }

    private func takingLogs(of handle: KafkaHandle) throws(KafkaError) -> KafkaQueue {
        let code = rd_kafka_set_log_queue(handle.pointer, pointer)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else { throw KafkaError(code) }
        return self
    }

    /// Leads a partition's records into `destination` for as long as the client lives.
    static func forward(_ partition: KafkaPartition, of handle: KafkaHandle, to destination: KafkaQueue) {
        guard let queue = rd_kafka_queue_get_partition(handle.pointer, partition.topic, partition.index) else { return }
        rd_kafka_queue_forward(queue, destination.pointer)
        rd_kafka_queue_destroy(queue)
    }

    /// Signals `descriptor` each time the queue stops being empty; whoever is woken must empty it.
    func signal(_ descriptor: EventDescriptor) {
        var one: UInt64 = 1
        rd_kafka_queue_io_event_enable(pointer, descriptor.rawValue, &one, MemoryLayout<UInt64>.size)
    }

    func stopSignalling() { rd_kafka_queue_io_event_enable(pointer, -1, nil, 0) }

    /// The next event, without waiting.
    func nextEvent() -> ClientEvent? { ClientEvent(rd_kafka_queue_poll(pointer, 0)) }

    /// The next record, without waiting. The caller destroys it.
    func nextRecord() -> UnsafeMutablePointer<rd_kafka_message_t>? { rd_kafka_consume_queue(pointer, 0) }
}
