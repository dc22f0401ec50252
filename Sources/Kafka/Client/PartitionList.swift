package import CLibrdkafka
package import Contract

extension TopicPartition {
    /// The partition that a message is of; without a name for an error that is about none.
    package init(of message: UnsafeMutablePointer<rd_kafka_message_t>) {
        let name = message.pointee.rkt.flatMap(rd_kafka_topic_name).map(String.init(cString:))
        self.init(topic: name ?? "", partition: message.pointee.partition)
    }
}

/// A librdkafka list of partitions, freed when this goes; one left over would make closing the client hang.
package struct PartitionList: ~Copyable {
    package let pointer: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>

    init(_ partitions: some Collection<TopicPartition>) throws(KafkaError) {
        guard let pointer = rd_kafka_topic_partition_list_new(Int32(clamping: partitions.count)) else {
            throw .noMemory(for: "rd_kafka_topic_partition_list_new")
        }
        self.pointer = pointer
        for partition in partitions { rd_kafka_topic_partition_list_add(pointer, partition.topic, partition.partition) }
    }

    /// With the offset of each: the next to be read.
    package init(offsets: [TopicPartition: Int64]) throws(KafkaError) {
        try self.init([])
        for (partition, offset) in offsets.sorted(by: { $0.key < $1.key }) {
            rd_kafka_topic_partition_list_add(pointer, partition.topic, partition.partition).pointee.offset = offset
        }
    }

    deinit { rd_kafka_topic_partition_list_destroy(pointer) }

    /// The offset of each, as the last call that took this list left it.
    package var offsets: [TopicPartition: Int64] {
        elements(of: pointer).reduce(into: [:]) { $0[TopicPartition($1)] = $1.offset }
    }

    /// The partitions for which the last call that took this list reported an error.
    package var refused: [TopicPartition: KafkaError] {
        elements(of: pointer).filter { $0.err != RD_KAFKA_RESP_ERR_NO_ERROR }
            .reduce(into: [:]) { $0[TopicPartition($1)] = KafkaError($1.err) }
    }
}

extension TopicPartition {
    init(_ element: rd_kafka_topic_partition_t) {
        self.init(topic: String(cString: element.topic), partition: element.partition)
    }
}

extension [TopicPartition] {
    static func all(in list: UnsafePointer<rd_kafka_topic_partition_list_t>?) -> Self {
        elements(of: list).map(TopicPartition.init)
    }
}

private func elements(
    of list: UnsafePointer<rd_kafka_topic_partition_list_t>?
) -> UnsafeBufferPointer<rd_kafka_topic_partition_t> {
    guard let list else { return UnsafeBufferPointer(start: nil, count: 0) }
    return UnsafeBufferPointer(start: list.pointee.elems, count: Int(list.pointee.cnt))
}

extension InputRecord {
    /// Copies a message that is a record of a partition. The caller destroys the message soon, because one message kept
    /// would keep its whole fetch response in memory.
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
