internal import CLibrdkafka

/// A librdkafka client instance.
///
/// `@unchecked Sendable`: the pointer never changes and librdkafka's handle may be used from any thread. By this
/// module's own rule only the owner thread uses it once it runs; it alone calls `destroy`.
final class KafkaHandle: @unchecked Sendable {
    let pointer: OpaquePointer

    /// Makes a client whose logs, errors, statistics and `events` come out of its queues; no C callback is registered,
    /// so no Swift object is ever reached from librdkafka's threads.
    init(
        _ type: rd_kafka_type_t, properties: ClientProperties, events: Int32
    ) throws(KafkaError) {
        guard let configuration = rd_kafka_conf_new() else { throw .resourcesExhausted("rd_kafka_conf_new", errno: 0) }
        for (key, value) in properties.values.sorted(by: { $0.key < $1.key }) {
            // librdkafka's text is not asked for: it repeats the value, which may be a password.
            let result = rd_kafka_conf_set(configuration, key, value, nil, 0)
            guard result == RD_KAFKA_CONF_OK else {
                rd_kafka_conf_destroy(configuration)
                throw result == RD_KAFKA_CONF_UNKNOWN ? .unknownProperty(key: key) : .invalidPropertyValue(key: key)
            }
        }
        rd_kafka_conf_set_events(
            configuration, events | RD_KAFKA_EVENT_LOG | RD_KAFKA_EVENT_ERROR | RD_KAFKA_EVENT_STATS)
        var text = [CChar](repeating: 0, count: 512)
        guard let pointer = rd_kafka_new(type, configuration, &text, text.count) else {
            let code = rd_kafka_last_error()
            // A failed rd_kafka_new leaves the configuration with its caller.
            rd_kafka_conf_destroy(configuration)
            let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
            throw .invalidConfiguration(KafkaFailure(code, text: String(decoding: bytes, as: UTF8.self)))
        }
        self.pointer = pointer
    }

    /// Frees the client and joins its threads. Every queue, event, message and list of it must be gone before.
    func destroy(leavingGroup: Bool) {
        rd_kafka_destroy_flags(pointer, leavingGroup ? 0 : RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE)
    }

    /// As `destroy`, on a thread of its own and for at most `timeout`: some librdkafka versions can hang in it.
    /// - Returns: whether it was over in time; if not, the thread is left behind with the handle.
    func destroy(leavingGroup: Bool, timeout: Duration) throws(KafkaError) -> Bool {
        let done = try EventDescriptor()
        let finished = CompletionFlag()
        try DedicatedThread.start("kafka-teardown") { [self] in
            destroy(leavingGroup: leavingGroup)
            finished.set()
            done.signal()
        }
        done.wait(timeout: timeout)
        return finished.isSet
    }

    /// The fatal error that librdkafka raised, if it did.
    var fatalError: KafkaError? {
        var text = [CChar](repeating: 0, count: 512)
        let code = rd_kafka_fatal_error(pointer, &text, text.count)
        guard code != RD_KAFKA_RESP_ERR_NO_ERROR else { return nil }
        let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return .fatal(KafkaFailure(code, text: String(decoding: bytes, as: UTF8.self)))
    }
}
