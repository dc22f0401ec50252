package import CLibrdkafka
public import Contract

public struct KafkaBatch: Sendable, Hashable {
    public let partition: TopicPartition
    /// The number of the ``KafkaStart`` that the partition is read under.
    public let assignmentID: UInt64
    public let records: [InputRecord]
}

extension InputRecord {
    /// Copies a message that is a record of a partition; the caller destroys it soon, because one message kept would
    /// keep its whole fetch response in memory.
    package init(_ message: UnsafeMutablePointer<rd_kafka_message_t>, of partition: TopicPartition) {
        var kind = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE
        let timestamp = rd_kafka_message_timestamp(message, &kind)
        self.init(
            origin: Origin(topic: partition.topic, partition: partition.partition, offset: message.pointee.offset),
            key: Self.bytes(message.pointee.key, message.pointee.key_len),
            value: Self.bytes(message.pointee.payload, message.pointee.len), headers: Self.headers(message),
            timestamp: kind == RD_KAFKA_TIMESTAMP_NOT_AVAILABLE ? nil : Timestamp(milliseconds: timestamp))
    }

    private static func bytes(_ start: UnsafeRawPointer?, _ count: Int) -> [UInt8]? {
        guard let start else { return nil }
        return Array(UnsafeRawBufferPointer(start: start, count: count))
    }

    private static func headers(_ message: UnsafeMutablePointer<rd_kafka_message_t>) -> [RecordHeader] {
        var list: OpaquePointer?
        guard rd_kafka_message_headers(message, &list) == RD_KAFKA_RESP_ERR_NO_ERROR, let list else { return [] }
        return (0..<rd_kafka_header_cnt(list)).compactMap { index in
            var name: UnsafePointer<CChar>?
            var value: UnsafeRawPointer?
            var size = 0
            guard rd_kafka_header_get_all(list, index, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR, let name
            else { return nil }
            return RecordHeader(name: String(cString: name), value: bytes(value, size))
        }
    }
}
