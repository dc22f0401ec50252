internal import CLibrdkafka

/// The question for the offsets that a group has committed (`ListConsumerGroupOffsets`, KIP-222). It needs no member of
/// the group and does not block; the answer comes out of a queue.
enum CommittedOffsetsRequest {
    /// Asks; the answer is a ``ClientEvent/Content/groupOffsets(_:request:)`` with the same number in `queue`.
    static func send(
        _ handle: ClientHandle, group: String, _ partitions: some Collection<KafkaPartition>, request: UInt,
        timeout: Duration, to queue: ClientQueue
    ) throws(KafkaError) {
        let list = try PartitionList(partitions)
        guard let options = rd_kafka_AdminOptions_new(handle.pointer, RD_KAFKA_ADMIN_OP_LISTCONSUMERGROUPOFFSETS)
        else { throw .noMemory(for: "rd_kafka_AdminOptions_new") }
        defer { rd_kafka_AdminOptions_destroy(options) }
        rd_kafka_AdminOptions_set_request_timeout(options, timeout.wholeMilliseconds, nil, 0)
        rd_kafka_AdminOptions_set_opaque(options, UnsafeMutableRawPointer(bitPattern: request))
        var question = rd_kafka_ListConsumerGroupOffsets_new(group, list.pointer)
        defer { rd_kafka_ListConsumerGroupOffsets_destroy(question) }
        rd_kafka_ListConsumerGroupOffsets(handle.pointer, &question, 1, options, queue.pointer)
    }

    /// The offsets (the next to be read) in an answer; partitions without one are left out.
    static func answer(in event: OpaquePointer) -> Result<[KafkaPartition: Int64], KafkaError> {
        let code = rd_kafka_event_error(event)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR, let result = rd_kafka_event_ListConsumerGroupOffsets_result(event)
        else {
            return .failure(KafkaError(code, text: rd_kafka_event_error_string(event).map(String.init(cString:))))
        }
        var count = 0
        guard let groups = rd_kafka_ListConsumerGroupOffsets_result_groups(result, &count), count > 0,
            let group = groups[0]
        else { return .failure(KafkaError(RD_KAFKA_RESP_ERR__BAD_MSG)) }
        if let error = rd_kafka_group_result_error(group) {
            let text = rd_kafka_error_string(error).map(String.init(cString:))
            return .failure(KafkaError(rd_kafka_error_code(error), text: text))
        }
        let list = rd_kafka_group_result_partitions(group)
        // A topic that is gone, or not known yet to the broker that was asked, has no offset.
        let missing = RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART.rawValue
        let refused = [KafkaPartition: KafkaError].refused(in: list).filter { $0.value.failure?.code != missing }
        if let error = refused.min(by: { $0.key < $1.key })?.value { return .failure(error) }
        return .success([KafkaPartition: Int64].offsets(in: list).filter { $0.value >= 0 })
    }
}

extension Duration {
    /// Whole milliseconds for a C timeout: rounded up, so that a loop never spins through the last fraction.
    var wholeMilliseconds: Int32 {
        let milliseconds = self / .milliseconds(1)
        return Int32(min(max(milliseconds.rounded(.up), 0), Double(Int32.max)))
    }
}
