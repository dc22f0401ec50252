internal import CLibrdkafka

/// A librdkafka list of partitions, freed when this goes; one left over would make closing the client hang.
struct PartitionList: ~Copyable {
    let pointer: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>

    /// `nil` only when there is no memory left.
    init?(_ partitions: some Collection<KafkaPartition>) {
        guard let pointer = rd_kafka_topic_partition_list_new(Int32(clamping: partitions.count)) else { return nil }
        self.pointer = pointer
        for partition in partitions {
            rd_kafka_topic_partition_list_add(pointer, partition.topic, partition.index)
        }
    }

    /// With the offset that each is to be read from next.
    init?(offsets: [KafkaPartition: Int64]) {
        self.init(offsets.keys)
        for index in 0..<Int(pointer.pointee.cnt) {
            let partition = KafkaPartition(pointer.pointee.elems[index])
            pointer.pointee.elems[index].offset = offsets[partition] ?? Int64(RD_KAFKA_OFFSET_INVALID)
        }
    }

    deinit { rd_kafka_topic_partition_list_destroy(pointer) }

    /// The offset of each, as the last call that took this list left it.
    var offsets: [KafkaPartition: Int64] {
        var offsets: [KafkaPartition: Int64] = [:]
        for element in UnsafeBufferPointer(start: pointer.pointee.elems, count: Int(pointer.pointee.cnt)) {
            offsets[KafkaPartition(element)] = element.offset
        }
        return offsets
    }

    /// The partitions for which the last call that took this list reported an error.
    var refused: [KafkaPartition: KafkaError] {
        var refused: [KafkaPartition: KafkaError] = [:]
        for element in UnsafeBufferPointer(start: pointer.pointee.elems, count: Int(pointer.pointee.cnt))
        where element.err != RD_KAFKA_RESP_ERR_NO_ERROR {
            refused[KafkaPartition(element)] = KafkaError(element.err)
        }
        return refused
    }
}

extension KafkaPartition {
    init(_ element: rd_kafka_topic_partition_t) {
        self.init(topic: String(cString: element.topic), index: element.partition)
    }

    static func all(in list: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>?) -> [KafkaPartition] {
        guard let list else { return [] }
        return UnsafeBufferPointer(start: list.pointee.elems, count: Int(list.pointee.cnt)).map(KafkaPartition.init)
    }
}
