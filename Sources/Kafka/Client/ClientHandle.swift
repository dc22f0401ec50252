internal import CLibrdkafka
internal import Logging
internal import Scheduling
internal import Synchronization
internal import Threading

/// A librdkafka client instance, freed once: by ``destroy(leavingGroup:)``, which its owner calls last.
///
/// `@unchecked Sendable`: the pointer never changes and librdkafka's handle may be used from any thread. By this
/// module's own rule only the owner thread uses it once it runs; it alone destroys it.
final class ClientHandle: @unchecked Sendable {
    let pointer: OpaquePointer

    /// Makes a client whose logs, errors, statistics and `events` come out of its queues; no C callback is registered,
    /// so no Swift object is ever reached from librdkafka's threads.
    init(_ type: rd_kafka_type_t, properties: ClientProperties, events: Int32 = 0) throws(KafkaError) {
        guard let configuration = rd_kafka_conf_new() else { throw .noMemory(for: "rd_kafka_conf_new") }
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
            throw .invalidConfiguration(KafkaFailure(code, text: String(cText: text)))
        }
        self.pointer = pointer
    }

    /// Frees the client and joins its threads. Every queue, event, message and list of it must be gone before.
    func destroy(leavingGroup: Bool) {
        rd_kafka_destroy_flags(pointer, leavingGroup ? 0 : RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE)
    }

    /// As ``destroy(leavingGroup:)``, on a thread of its own and until `deadline`: some librdkafka versions hang in it.
    /// - Returns: whether it was over in time; if not, the thread is left behind with the handle.
    func destroy(leavingGroup: Bool, until deadline: Instant) -> Bool {
        do throws(ThreadingError) {
            let done = try WakeDescriptor()
            let thread = try OwnerThread(name: "kafka-teardown") { [self] in
                destroy(leavingGroup: leavingGroup)
                done.signal()
            }
            guard done.wait(until: deadline) else { return false }
            thread.join()
            return true
        } catch {
            // No thread to watch it from; this one is the caller's own.
            destroy(leavingGroup: leavingGroup)
            return true
        }
    }

    /// The fatal error that librdkafka raised, if it did.
    var fatalError: KafkaError? {
        var text = [CChar](repeating: 0, count: 512)
        let code = rd_kafka_fatal_error(pointer, &text, text.count)
        guard code != RD_KAFKA_RESP_ERR_NO_ERROR else { return nil }
        return .fatal(KafkaFailure(code, text: String(cText: text)))
    }

    /// Whether the cluster was ever heard of. Does not wait.
    var hasReachedBroker: Bool {
        guard let id = rd_kafka_clusterid(pointer, 0) else { return false }
        rd_kafka_mem_free(pointer, id)
        return true
    }
}

extension String {
    /// The text that a C function left in a buffer.
    init(cText buffer: [CChar]) {
        self.init(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
