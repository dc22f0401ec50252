internal import CLibrdkafka

/// A librdkafka list of partitions, freed when this goes; one left over would make closing the client hang.
struct PartitionList: ~Copyable {
    let pointer: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>

    init(_ partitions: some Collection<KafkaPartition>) throws(KafkaError) {
        guard let pointer = rd_kafka_topic_partition_list_new(Int32(clamping: partitions.count)) else {
            throw .noMemory(for: "rd_kafka_topic_partition_list_new")
        }
        self.pointer = pointer
        for partition in partitions {
            rd_kafka_topic_partition_list_add(pointer, partition.topic, partition.index)
        }
    }

    /// With the offset of each: the next to be read.
    init(offsets: [KafkaPartition: Int64]) throws(KafkaError) {
        try self.init([])
        for (partition, offset) in offsets.sorted(by: { $0.key < $1.key }) {
            rd_kafka_topic_partition_list_add(pointer, partition.topic, partition.index).pointee.offset = offset
        }
    }

    deinit { rd_kafka_topic_partition_list_destroy(pointer) }

    /// The offset of each, as the last call that took this list left it.
    var offsets: [KafkaPartition: Int64] { .offsets(in: pointer) }

    /// The partitions for which the last call that took this list reported an error.
    var refused: [KafkaPartition: KafkaError] { .refused(in: pointer) }
}

extension KafkaPartition {
    init(_ element: rd_kafka_topic_partition_t) {
        self.init(topic: String(cString: element.topic), index: element.partition)
    }
}

extension [KafkaPartition] {
    static func all(in list: UnsafePointer<rd_kafka_topic_partition_list_t>?) -> Self {
        elements(of: list).map(KafkaPartition.init)
    }
}

extension [KafkaPartition: Int64] {
    static func offsets(in list: UnsafePointer<rd_kafka_topic_partition_list_t>?) -> Self {
        elements(of: list).reduce(into: [:]) { $0[KafkaPartition($1)] = $1.offset }
    }
}

extension [KafkaPartition: KafkaError] {
    static func refused(in list: UnsafePointer<rd_kafka_topic_partition_list_t>?) -> Self {
        elements(of: list).reduce(into: [:]) { refused, element in
            guard element.err != RD_KAFKA_RESP_ERR_NO_ERROR else { return }
            refused[KafkaPartition(element)] = KafkaError(element.err)
        }
    }
}

private func elements(
    of list: UnsafePointer<rd_kafka_topic_partition_list_t>?
) -> UnsafeBufferPointer<rd_kafka_topic_partition_t> {
    guard let list else { return UnsafeBufferPointer(start: nil, count: 0) }
    return UnsafeBufferPointer(start: list.pointee.elems, count: Int(list.pointee.cnt))
}
