internal import CLibrdkafka

/// The state of a consumer group.
public struct KafkaGroupDescription: Sendable, Hashable {
    /// As its coordinator calls it: `Stable`, `Empty`, `Dead` (there is none), `PreparingRebalance`, …
    public let state: String
    /// The strategy that its partitions are divided by; empty without members.
    public let assignor: String
    /// Its members' client ids.
    public let members: [String]
}

extension KafkaAdmin {
    /// Describes a group; one that does not exist is `Dead`.
    ///
    /// - Throws: `denied` without the right to describe the group, `transient` when its coordinator does not answer
    ///   within `timeout`, configuration errors.
    public func describe(
        group: String, timeout: Duration = .seconds(10)
    ) throws(KafkaError) -> KafkaGroupDescription {
        try withClient { handle throws(KafkaError) in
            try AdminRequest.run(handle, RD_KAFKA_ADMIN_OP_DESCRIBECONSUMERGROUPS, timeout: timeout) { options, queue in
                group.withCString { name in
                    var names: [UnsafePointer<CChar>?] = [name]
                    rd_kafka_DescribeConsumerGroups(handle.pointer, &names, 1, options, queue)
                }
            } read: { event throws(KafkaError) in
                try Self.group(in: event)
            }
        }
    }

    private static func group(in event: OpaquePointer) throws(KafkaError) -> KafkaGroupDescription {
        var count = 0
        guard let result = rd_kafka_event_DescribeConsumerGroups_result(event),
            let groups = rd_kafka_DescribeConsumerGroups_result_groups(result, &count), count > 0,
            let group = groups[0]
        else { throw KafkaError(RD_KAFKA_RESP_ERR__BAD_MSG) }
        if let error = rd_kafka_ConsumerGroupDescription_error(group) {
            let code = rd_kafka_error_code(error)
            if code != RD_KAFKA_RESP_ERR_NO_ERROR {
                throw KafkaError(code, text: rd_kafka_error_string(error).map(String.init(cString:)))
            }
        }
        let members = (0..<rd_kafka_ConsumerGroupDescription_member_count(group)).compactMap { index in
            rd_kafka_ConsumerGroupDescription_member(group, index).flatMap(rd_kafka_MemberDescription_client_id)
                .map(String.init(cString:))
        }
        let state = rd_kafka_consumer_group_state_name(rd_kafka_ConsumerGroupDescription_state(group))
        let assignor = rd_kafka_ConsumerGroupDescription_partition_assignor(group)
        return KafkaGroupDescription(
            state: state.map(String.init(cString:)) ?? "", assignor: assignor.map(String.init(cString:)) ?? "",
            members: members.sorted())
    }
}
