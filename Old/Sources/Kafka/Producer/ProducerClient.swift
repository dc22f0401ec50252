internal import CLibrdkafka

/// One librdkafka producer with its queue. A producer that met a fatal error replaces it. Confined to the owner thread.
final class ProducerClient {
    /// What librdkafka said to a record.
    enum Acceptance {
        case accepted
        /// No room; the record waits.
        case full
        case refused(KafkaError)
    }

    let handle: KafkaHandle
    private let queue: KafkaQueue

    init(handle: KafkaHandle, wake: EventDescriptor) throws(KafkaError) {
        self.handle = handle
        queue = try KafkaQueue.main(handle)
        queue.signal(wake)
    }

    deinit { queue.stopSignalling() }

    func nextEvent() -> ClientEvent? { queue.nextEvent() }

    /// Hands a record to librdkafka, which copies it.
    func produce(_ record: KafkaProducerRecord, slot: DeliveryBatches.Slot) -> Acceptance {
        guard let headers = rd_kafka_headers_new(record.headers.count) else { return .full }
        for header in record.headers {
            header.value.withPointer { value, count in
                // Handing over the string itself would make a copy of it first.
                _ = header.name.withCString { rd_kafka_header_add(headers, $0, -1, value, count) }
            }
        }
        let error = record.topic.withCString { topic in
            record.key.withPointer { key, keyCount in
                record.value.withPointer { value, valueCount in
                    produce(
                        topic: topic, key: (key, keyCount), value: (value, valueCount), headers: headers,
                        timestamp: record.timestampMilliseconds, slot: slot)
                }
            }
        }
        guard let error else { return .accepted }
        // Only a message that was accepted takes its headers along.
        rd_kafka_headers_destroy(headers)
        if rd_kafka_error_code(error) == RD_KAFKA_RESP_ERR__QUEUE_FULL {
            rd_kafka_error_destroy(error)
            return .full
        }
        return .refused(KafkaError.taking(error) ?? .closed)
    }

    private func produce(
        topic: UnsafePointer<CChar>, key: (UnsafeRawPointer?, Int), value: (UnsafeRawPointer?, Int),
        headers: OpaquePointer, timestamp: Int64?, slot: DeliveryBatches.Slot
    ) -> OpaquePointer? {
        // On the stack: the array's pointers are followed during the call only.
        withUnsafeTemporaryAllocation(of: rd_kafka_vu_t.self, capacity: 7) { arguments in
            arguments.initialize(repeating: rd_kafka_vu_t())
            arguments[0].vtype = RD_KAFKA_VTYPE_TOPIC
            arguments[0].u.cstr = topic
            arguments[1].vtype = RD_KAFKA_VTYPE_KEY
            arguments[1].u.mem.ptr = UnsafeMutableRawPointer(mutating: key.0)
            arguments[1].u.mem.size = key.1
            arguments[2].vtype = RD_KAFKA_VTYPE_VALUE
            arguments[2].u.mem.ptr = UnsafeMutableRawPointer(mutating: value.0)
            arguments[2].u.mem.size = value.1
            arguments[3].vtype = RD_KAFKA_VTYPE_MSGFLAGS
            arguments[3].u.i = RD_KAFKA_MSG_F_COPY
            arguments[4].vtype = RD_KAFKA_VTYPE_OPAQUE
            // Never followed: the pointer's bits are the record's number.
            arguments[4].u.ptr = UnsafeMutableRawPointer(bitPattern: UInt(slot.bits))
            arguments[5].vtype = RD_KAFKA_VTYPE_HEADERS
            arguments[5].u.headers = headers
            if let timestamp {
                arguments[6].vtype = RD_KAFKA_VTYPE_TIMESTAMP
                arguments[6].u.i64 = timestamp
            }
            return rd_kafka_produceva(handle.pointer, arguments.baseAddress, timestamp == nil ? 6 : 7)
        }
    }

    /// Asks for the topics' metadata, so that the first record of each does not wait for it.
    func warmUp(_ topics: [String], timeout: Duration) -> Result<Void, KafkaError> {
        let deadline = ContinuousClock.now + timeout
        for name in topics {
            guard let topic = rd_kafka_topic_new(handle.pointer, name, nil) else {
                return .failure(KafkaError(rd_kafka_last_error()))
            }
            defer { rd_kafka_topic_destroy(topic) }
            var metadata: UnsafePointer<rd_kafka_metadata>?
            let rest = max(deadline - .now, .zero)
            let code = rd_kafka_metadata(handle.pointer, 0, topic, &metadata, rest.pollMilliseconds)
            guard code == RD_KAFKA_RESP_ERR_NO_ERROR else { return .failure(KafkaError(code)) }
            defer { rd_kafka_metadata_destroy(metadata) }
            guard let found = metadata?.pointee, found.topic_cnt > 0 else { continue }
            guard found.topics[0].err == RD_KAFKA_RESP_ERR_NO_ERROR else {
                return .failure(KafkaError(found.topics[0].err))
            }
        }
        return .success(())
    }

    /// Fails everything not yet acknowledged; the reports come out of the queue. Does not wait for librdkafka's broker
    /// threads, which may sleep for a second.
    func purge() {
        let flags = RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT | RD_KAFKA_PURGE_F_NON_BLOCKING
        rd_kafka_purge(handle.pointer, flags)
    }
}

extension [UInt8]? {
    /// The bytes for C, where null and empty differ: an empty array's own pointer may be null.
    func withPointer<Result>(_ body: (UnsafeRawPointer?, Int) -> Result) -> Result {
        guard let self else { return body(nil, 0) }
        guard !self.isEmpty else { return withUnsafeBytes(of: UInt8(0)) { body($0.baseAddress, 0) } }
        return self.withUnsafeBytes { body($0.baseAddress, $0.count) }
    }
}
