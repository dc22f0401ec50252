import CLibrdkafka

/// Changes that operators and retention make to a topic. The mock knows none of them.
extension TestKafka {
    /// Deletes a topic and waits until the broker has done it.
    public func deleteTopic(_ name: String) throws(TestKafkaError) {
        try ask("delete the topic \(name)") { client, queue in
            var topics = [rd_kafka_DeleteTopic_new(name)]
            rd_kafka_DeleteTopics(client, &topics, 1, nil, queue)
            rd_kafka_DeleteTopic_destroy_array(&topics, 1)
        }
    }

    /// Deletes a partition's records before an offset, as retention does.
    public func deleteRecords(of topic: String, partition: Int32, before offset: Int64) throws(TestKafkaError) {
        try ask("delete records of \(topic)") { client, queue in
            let list = rd_kafka_topic_partition_list_new(1)
            rd_kafka_topic_partition_list_add(list, topic, partition).pointee.offset = offset
            var requests = [rd_kafka_DeleteRecords_new(list)]
            rd_kafka_topic_partition_list_destroy(list)
            rd_kafka_DeleteRecords(client, &requests, 1, nil, queue)
            rd_kafka_DeleteRecords_destroy_array(&requests, 1)
        }
    }

    /// Sets a topic's property; the others get their defaults.
    public func setTopicProperty(_ topic: String, _ name: String, _ value: String) throws(TestKafkaError) {
        try ask("set \(name) of \(topic)") { client, queue in
            var resources = [rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic)]
            rd_kafka_ConfigResource_set_config(resources[0], name, value)
            rd_kafka_AlterConfigs(client, &resources, 1, nil, queue)
            rd_kafka_ConfigResource_destroy_array(&resources, 1)
        }
    }

    /// Takes everybody's right to write into a topic away; the other rights stay.
    public func denyWriting(_ topic: String) throws(TestKafkaError) {
        try ask("deny writing into \(topic)") { client, queue in
            var bindings = Self.rules { rule in
                rd_kafka_AclBinding_new(
                    rule.resource, topic, rule.pattern, rule.principal, rule.host, rule.operation, rule.permission, nil,
                    0)
            }
            rd_kafka_CreateAcls(client, &bindings, bindings.count, nil, queue)
            rd_kafka_AclBinding_destroy_array(&bindings, bindings.count)
        }
    }

    /// Gives back what ``denyWriting(_:)`` took.
    public func allowWriting(_ topic: String) throws(TestKafkaError) {
        try ask("allow writing into \(topic)") { client, queue in
            var filters = Self.rules { rule in
                rd_kafka_AclBindingFilter_new(
                    rule.resource, topic, rule.pattern, rule.principal, rule.host, rule.operation, rule.permission, nil,
                    0)
            }
            rd_kafka_DeleteAcls(client, &filters, filters.count, nil, queue)
            rd_kafka_AclBinding_destroy_array(&filters, filters.count)
        }
    }

    private struct Rule {
        let resource = RD_KAFKA_RESOURCE_TOPIC
        let pattern = RD_KAFKA_RESOURCE_PATTERN_LITERAL
        let principal = "User:*"
        let host = "*"
        let operation: rd_kafka_AclOperation_t
        let permission: rd_kafka_AclPermissionType_t
    }

    /// A topic with any rule allows only what its rules say.
    private static func rules(_ make: (Rule) -> OpaquePointer?) -> [OpaquePointer?] {
        [
            Rule(operation: RD_KAFKA_ACL_OPERATION_WRITE, permission: RD_KAFKA_ACL_PERMISSION_TYPE_DENY),
            Rule(operation: RD_KAFKA_ACL_OPERATION_ALL, permission: RD_KAFKA_ACL_PERMISSION_TYPE_ALLOW),
        ].map(make)
    }

    /// Asks by librdkafka's admin interface and waits for an answer without an error.
    private func ask(
        _ what: String, _ request: (_ client: OpaquePointer, _ queue: OpaquePointer) -> Void
    ) throws(TestKafkaError) {
        let configuration = rd_kafka_conf_new()
        rd_kafka_conf_set(configuration, "bootstrap.servers", bootstrapServers, nil, 0)
        guard let client = rd_kafka_new(RD_KAFKA_PRODUCER, configuration, nil, 0) else {
            throw TestKafkaError("no client to \(what)")
        }
        defer { rd_kafka_destroy(client) }
        guard let queue = rd_kafka_queue_new(client) else { throw TestKafkaError("no queue to \(what)") }
        defer { rd_kafka_queue_destroy(queue) }
        request(client, queue)
        guard let event = rd_kafka_queue_poll(queue, 30_000) else { throw TestKafkaError("no answer to \(what)") }
        defer { rd_kafka_event_destroy(event) }
        let code = rd_kafka_event_error(event)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else {
            throw TestKafkaError("cannot \(what): \(rd_kafka_err2str(code).map(String.init(cString:)) ?? "")")
        }
    }
}
