internal import CLibrdkafka
internal import Contract
internal import Scheduling
internal import Threading

/// One librdkafka producer with its queue and the records it holds. Confined to the producer's thread.
final class ProducerClient {
    let handle: ClientHandle
    private let queue: ClientQueue
    /// Kept so that their metadata is asked for at once and stays known.
    private var topics: [OpaquePointer]
    private var tokens = TokenTable()

    init(properties: ClientProperties, topics: [String], wake: WakeDescriptor) throws(KafkaError) {
        handle = try ClientHandle(RD_KAFKA_PRODUCER, properties: properties, events: RD_KAFKA_EVENT_DR)
        do throws(KafkaError) {
            queue = try ClientQueue.main(handle)
        } catch {
            handle.destroy()
            throw error
        }
        self.topics = topics.compactMap { [handle] in rd_kafka_topic_new(handle.pointer, $0, nil) }
        queue.signal(wake)
    }

    var outstanding: Int { tokens.count }
    func nextEvent(milliseconds: Int32 = 0) -> ClientEvent? { queue.nextEvent(milliseconds: milliseconds) }

    /// Hands a record to librdkafka, which copies it. Does not block.
    func produce(_ record: KafkaProducerRecord, token: UInt64) -> KafkaAcceptance {
        guard let headers = rd_kafka_headers_new(record.headers.count) else { return .full }
        for header in record.headers {
            header.value.withPointer { value, count in
                // Handing over the string itself would make a copy of it first.
                _ = header.name.withCString { rd_kafka_header_add(headers, $0, -1, value, count) }
            }
        }
        let index = tokens.insert(token)
        let error = record.topic.withCString { topic in
            record.key.withPointer { key, keyCount in
                record.value.withPointer { value, valueCount in
                    produce(
                        topic: topic, key: (key, keyCount), value: (value, valueCount), headers: headers, index: index)
                }
            }
        }
        guard let error else { return .accepted }
        _ = tokens.remove(index)
        // Only a message that was accepted takes its headers along.
        rd_kafka_headers_destroy(headers)
        defer { rd_kafka_error_destroy(error) }
        let code = rd_kafka_error_code(error)
        return code == RD_KAFKA_RESP_ERR__QUEUE_FULL ? .full : .refused(KafkaRefusal(code))
    }

    private func produce(
        topic: UnsafePointer<CChar>, key: (UnsafeRawPointer?, Int), value: (UnsafeRawPointer?, Int),
        headers: OpaquePointer, index: Int
    ) -> OpaquePointer? {
        // On the stack: the array's pointers are followed during the call only.
        withUnsafeTemporaryAllocation(of: rd_kafka_vu_t.self, capacity: 6) { arguments in
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
            // Never followed: the pointer's bits are the token's index.
            arguments[4].u.ptr = UnsafeMutableRawPointer(bitPattern: index)
            arguments[5].vtype = RD_KAFKA_VTYPE_HEADERS
            arguments[5].u.headers = headers
            return rd_kafka_produceva(handle.pointer, arguments.baseAddress, arguments.count)
        }
    }

    func report(_ message: UnsafePointer<rd_kafka_message_t>) -> KafkaDeliveryReport? {
        guard let token = tokens.remove(Int(bitPattern: message.pointee._private)) else { return nil }
        let code = message.pointee.err
        let result: KafkaDelivery =
            code == RD_KAFKA_RESP_ERR_NO_ERROR
            ? .acknowledged(partition: message.pointee.partition, offset: message.pointee.offset)
            : .failed(KafkaRefusal(code))
        return KafkaDeliveryReport(token: token, result: result)
    }

    /// Fails everything not yet acknowledged; the reports come out of the queue. Does not wait for librdkafka's broker
    /// threads, which may sleep for a second.
    func purge() {
        let flags = RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT | RD_KAFKA_PURGE_F_NON_BLOCKING
        rd_kafka_purge(handle.pointer, flags)
    }

    /// Ends the use of the client, whose handle the caller destroys.
    /// - Returns: the tokens without a report.
    func release() -> [UInt64] {
        queue.stopSignalling()
        for topic in topics { rd_kafka_topic_destroy(topic) }
        topics = []
        while nextEvent() != nil {}
        return tokens.removeAll()
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

/// The tokens of records that a client holds, by indices that fit the opaque pointer librdkafka carries with each. It
/// always knows which records a client has not reported yet, and costs two array accesses a record. Pure.
struct TokenTable {
    private var tokens: [UInt64?] = []
    private var free: [Int] = []

    var count: Int { tokens.count - free.count }

    /// - Returns: its index.
    mutating func insert(_ token: UInt64) -> Int {
        guard let index = free.popLast() else {
            tokens.append(token)
            return tokens.count - 1
        }
        tokens[index] = token
        return index
    }

    /// Takes a token out; nil if there is none at this index.
    mutating func remove(_ index: Int) -> UInt64? {
        guard tokens.indices.contains(index), let token = tokens[index] else { return nil }
        tokens[index] = nil
        free.append(index)
        return token
    }

    /// Takes all tokens out, in the order of their indices.
    mutating func removeAll() -> [UInt64] {
        defer { self = TokenTable() }
        return tokens.compactMap { $0 }
    }
}

/// Bounds how often a client in fatal state is replaced: so many times within any minute.
struct RecreationBudget {
    private static let span = Duration.seconds(60)

    private let limit: Int
    private var spent: [Instant] = []

    init(limit: Int) { self.limit = limit }

    mutating func take(now: Instant) -> Bool {
        spent.removeAll { now - $0 >= Self.span }
        guard spent.count < limit else { return false }
        spent.append(now)
        return true
    }
}
