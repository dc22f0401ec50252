internal import CLibrdkafka

extension KafkaAdmin {
    /// The offsets that the partitions of topics hold: from the oldest that is retained to the next to be written.
    /// Partitions are asked one after the other, so that each answer is of a moment of its own.
    /// - Throws: `rejected` for a topic that is not there, `transient` when a partition has no leader or not all answered
    ///   within `timeout`, configuration errors.
    public func offsets(
        of topics: [String], timeout: Duration = .seconds(30)
    ) async throws(KafkaError) -> [KafkaPartition: Range<Int64>] {
        try await withClient { handle throws(KafkaError) in
            let deadline = ContinuousClock.now + timeout
            // All topics are asked for: naming one would make some brokers create it.
            let cluster = try Self.metadata(handle, topic: nil, deadline: deadline)
            var offsets: [KafkaPartition: Range<Int64>] = [:]
            for topic in topics {
                guard case .present(let count, _)? = cluster.topics[topic] else {
                    throw .rejected(
                        KafkaFailure(RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, text: "there is no topic \(topic)"))
                }
                for index in 0..<Int32(clamping: count) {
                    let partition = KafkaPartition(topic: topic, index: index)
                    offsets[partition] = try Self.offsets(handle, partition, deadline: deadline)
                }
            }
            return offsets
        }
    }

    /// The offsets (the next to read) that a group has committed; partitions for which it has none, or that are not there, are left
    /// out.
    /// - Throws: `denied` where the group may not be looked at, `transient` when its coordinator does not answer within
    ///   `timeout`, configuration errors.
    public func committedOffsets(
        of group: String, in partitions: [KafkaPartition], timeout: Duration = .seconds(30)
    ) async throws(KafkaError) -> [KafkaPartition: Int64] {
        guard !partitions.isEmpty else { return [:] }
        return try await withClient(knowing: group) { handle throws(KafkaError) in
            guard let list = PartitionList(partitions) else {
                throw .resourcesExhausted("rd_kafka_topic_partition_list_new", errno: 0)
            }
            let code = rd_kafka_committed(handle.pointer, list.pointer, timeout.pollMilliseconds)
            guard code == RD_KAFKA_RESP_ERR_NO_ERROR else { throw KafkaError(code) }
            let isMissing = { (error: KafkaError) in
                error.failure?.code == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART.rawValue
            }
            let refused = list.refused.filter { !isMissing($0.value) }
            if let error = refused.min(by: { $0.key < $1.key })?.value { throw error }
            return list.offsets.filter { $0.value >= 0 }
        }
    }

    private static func offsets(
        _ handle: KafkaHandle, _ partition: KafkaPartition, deadline: ContinuousClock.Instant
    ) throws(KafkaError) -> Range<Int64> {
        var (low, high): (Int64, Int64) = (0, 0)
        let code = rd_kafka_query_watermark_offsets(
            handle.pointer, partition.topic, partition.index, &low, &high,
            max(deadline - .now, .zero).pollMilliseconds)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else { throw KafkaError(code) }
        return low..<max(low, high)
    }
}
