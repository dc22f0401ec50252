internal import CLibrdkafka

extension KafkaRecord {
    /// Copies a message that is a record; the caller destroys it soon, because one message kept would keep its whole
    /// fetch response in memory.
    init(_ message: UnsafeMutablePointer<rd_kafka_message_t>) {
        var kind = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE
        let timestamp = rd_kafka_message_timestamp(message, &kind)
        self.init(
            offset: message.pointee.offset,
            timestampMilliseconds: kind == RD_KAFKA_TIMESTAMP_NOT_AVAILABLE ? nil : timestamp,
            key: Self.bytes(message.pointee.key, message.pointee.key_len),
            value: Self.bytes(message.pointee.payload, message.pointee.len),
            headers: Self.headers(message))
    }

    private static func bytes(_ start: UnsafeRawPointer?, _ count: Int) -> [UInt8]? {
        guard let start else { return nil }
        return Array(UnsafeRawBufferPointer(start: start, count: count))
    }

    private static func headers(_ message: UnsafeMutablePointer<rd_kafka_message_t>) -> [KafkaHeader] {
        var list: OpaquePointer?
        guard rd_kafka_message_headers(message, &list) == RD_KAFKA_RESP_ERR_NO_ERROR, let list else { return [] }
        return (0..<rd_kafka_header_cnt(list)).compactMap { index in
            var name: UnsafePointer<CChar>?
            var value: UnsafeRawPointer?
            var size = 0
            guard rd_kafka_header_get_all(list, index, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR, let name
            else { return nil }
            return KafkaHeader(name: String(cString: name), value: bytes(value, size))
        }
    }
}

extension KafkaPartition {
    /// The partition that a message is of; without a name for an error that is about none.
    init(of message: UnsafeMutablePointer<rd_kafka_message_t>) {
        let name = message.pointee.rkt.flatMap(rd_kafka_topic_name).map(String.init(cString:))
        self.init(topic: name ?? "", index: message.pointee.partition)
    }
}
