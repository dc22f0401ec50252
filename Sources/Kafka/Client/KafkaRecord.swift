internal import CLibrdkafka

/// Consecutive records of one partition.
public struct KafkaBatch: Sendable, Hashable {
    public let partition: KafkaPartition
    /// The number of the ``KafkaStart`` that the partition is read under.
    public let assignmentID: UInt64
    /// At least one.
    public let records: [KafkaRecord]
}

/// One record, copied out of librdkafka's memory.
public struct KafkaRecord: Sendable, Hashable {
    public let offset: Int64
    /// Milliseconds since 1970 in UTC, by the producer's or the broker's clock as the topic is set; nil if unknown.
    public let timestampMilliseconds: Int64?
    /// Nil for a null key, which differs from an empty one.
    public let key: [UInt8]?
    /// Nil for a null value (a tombstone), which differs from an empty one.
    public let value: [UInt8]?
    /// In order, repeated names kept.
    public let headers: [KafkaHeader]

    public init(
        offset: Int64, timestampMilliseconds: Int64?, key: [UInt8]?, value: [UInt8]?, headers: [KafkaHeader] = []
    ) {
        self.offset = offset
        self.timestampMilliseconds = timestampMilliseconds
        self.key = key
        self.value = value
        self.headers = headers
    }

    /// Bytes of key, value and headers: the measure of a demand's `bytes`.
    public var byteCount: Int {
        headers.reduce((key?.count ?? 0) + (value?.count ?? 0)) { sum, header in
            sum + header.name.utf8.count + (header.value?.count ?? 0)
        }
    }
}

/// One header of a record. A name may occur more than once; order is kept.
public struct KafkaHeader: Sendable, Hashable {
    public let name: String
    /// Nil is a null value, which differs from an empty one.
    public let value: [UInt8]?

    public init(name: String, value: [UInt8]?) {
        self.name = name
        self.value = value
    }
}

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
            value: Self.bytes(message.pointee.payload, message.pointee.len), headers: Self.headers(message))
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
