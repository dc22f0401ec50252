internal import CLibrdkafka
internal import Scheduling

extension KafkaAdmin {
    /// The offsets that the partitions of topics hold: from the oldest that is retained to the next to be written.
    /// Partitions are asked one after the other, so that each answer is of a moment of its own.
    ///
    /// - Throws: `transient` (`UNKNOWN_TOPIC_OR_PART`) for a topic that is not there, `transient` when a partition has
    ///   no leader or not all answered within `timeout`, `denied`, configuration errors.
    public func offsets(
        of topics: [String], timeout: Duration = .seconds(30)
    ) throws(KafkaError) -> [KafkaPartition: Range<Int64>] {
        try withClient { handle throws(KafkaError) in
            let deadline = Instant.now + timeout
            // All topics are asked for: naming one would make some brokers create it.
            let cluster = try Self.metadata(handle, topic: nil, deadline: deadline)
            var offsets: [KafkaPartition: Range<Int64>] = [:]
            for topic in topics {
                guard case .present(let partitions)? = cluster.topics[topic] else {
                    throw KafkaError(RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, text: "there is no topic \(topic)")
                }
                for index in 0..<Int32(clamping: partitions.count) {
                    let partition = KafkaPartition(topic: topic, index: index)
                    offsets[partition] = try Self.offsets(handle, partition, deadline: deadline)
                }
            }
            return offsets
        }
    }

    /// The offsets (the next to read) that a group has committed; partitions for which it has none, or that are not
    /// there, are left out.
    ///
    /// - Throws: `denied` where the group may not be looked at, `transient` when its coordinator does not answer within
    ///   `timeout`, configuration errors.
    public func committedOffsets(
        of group: String, in partitions: [KafkaPartition], timeout: Duration = .seconds(30)
    ) throws(KafkaError) -> [KafkaPartition: Int64] {
        guard !partitions.isEmpty else { return [:] }
        return try withClient(knowing: group) { handle throws(KafkaError) in
            try handle.committedOffsets(partitions, timeout: timeout)
        }
    }

    private static func offsets(
        _ handle: ClientHandle, _ partition: KafkaPartition, deadline: Instant
    ) throws(KafkaError) -> Range<Int64> {
        var (low, high): (Int64, Int64) = (0, 0)
        let rest = max(deadline - .now, .zero).wholeMilliseconds
        try KafkaError.check(
            rd_kafka_query_watermark_offsets(handle.pointer, partition.topic, partition.index, &low, &high, rest))
        return low..<max(low, high)
    }
}
