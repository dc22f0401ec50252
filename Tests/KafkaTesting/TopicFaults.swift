import CLibrdkafka
internal import Kafka

/// Changes that operators and retention make to a topic. The mock knows none of them.
extension TestKafka {
    /// Deletes a topic and waits until the broker has done it.
    public func deleteTopic(_ name: String) throws(TestKafkaError) {
        try ask("delete the topic \(name)") { client, options, queue in
            var topics = [rd_kafka_DeleteTopic_new(name)]
            rd_kafka_DeleteTopics(client, &topics, 1, options, queue)
            rd_kafka_DeleteTopic_destroy_array(&topics, 1)
        }
        try wait(until: { $0.topics[name] == nil }) { admin throws(KafkaError) in try admin.describe() }
    }

    /// Deletes a partition's records before an offset, as retention does.
    public func deleteRecords(of topic: String, partition: Int32, before offset: Int64) throws(TestKafkaError) {
        try ask("delete records of \(topic)") { client, options, queue in
            let list = rd_kafka_topic_partition_list_new(1)
            rd_kafka_topic_partition_list_add(list, topic, partition).pointee.offset = offset
            var requests = [rd_kafka_DeleteRecords_new(list)]
            rd_kafka_topic_partition_list_destroy(list)
            rd_kafka_DeleteRecords(client, &requests, 1, options, queue)
            rd_kafka_DeleteRecords_destroy_array(&requests, 1)
        }
    }

    /// Sets a topic's property; the others get their defaults.
    public func setTopicProperty(_ topic: String, _ name: String, _ value: String) throws(TestKafkaError) {
        try setTopicProperties(topic, [name: value])
    }

    /// Sets all of a topic's properties; those that are not named get their defaults.
    public func setTopicProperties(_ topic: String, _ values: [String: String]) throws(TestKafkaError) {
        try ask("set properties of \(topic)") { client, options, queue in
            var resources = [rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic)]
            for (name, value) in values { rd_kafka_ConfigResource_set_config(resources[0], name, value) }
            rd_kafka_AlterConfigs(client, &resources, 1, options, queue)
            rd_kafka_ConfigResource_destroy_array(&resources, 1)
        }
        try wait(until: { found in
            values.allSatisfy { name, value in (try? found[topic]?.get())?[name] == value }
        }) { admin throws(KafkaError) in
            try admin.topicConfigurations(of: [topic])
        }
    }

    /// Takes everybody's right to write into a topic away; the other rights stay.
    public func denyWriting(_ topic: String) throws(TestKafkaError) {
        try give("deny writing into \(topic)", Rule.denyingWriting(topic))
    }

    /// Gives back what ``denyWriting(_:)`` took.
    public func allowWriting(_ topic: String) throws(TestKafkaError) {
        try take("allow writing into \(topic)", Rule.denyingWriting(topic))
    }

    /// Gives a user a right, beside those that it has.
    func give(_ right: TestRight, to user: String) throws(TestKafkaError) {
        try give("give \(right)", [Rule.of(right, user)])
    }

    /// Takes a right that was given.
    func take(_ right: TestRight, from user: String) throws(TestKafkaError) {
        try take("take \(right)", [Rule.of(right, user)])
    }

    private func give(_ what: String, _ rules: [Rule]) throws(TestKafkaError) {
        try ask(what) { client, options, queue in
            var bindings = rules.map { rule in
                rd_kafka_AclBinding_new(
                    rule.resource, rule.name, RD_KAFKA_RESOURCE_PATTERN_LITERAL, rule.principal, "*", rule.operation,
                    rule.permission, nil, 0)
            }
            rd_kafka_CreateAcls(client, &bindings, bindings.count, options, queue)
            rd_kafka_AclBinding_destroy_array(&bindings, bindings.count)
        }
    }

    private func take(_ what: String, _ rules: [Rule]) throws(TestKafkaError) {
        try ask(what) { client, options, queue in
            var filters = rules.map { rule in
                rd_kafka_AclBindingFilter_new(
                    rule.resource, rule.name, RD_KAFKA_RESOURCE_PATTERN_LITERAL, rule.principal, "*", rule.operation,
                    rule.permission, nil, 0)
            }
            rd_kafka_DeleteAcls(client, &filters, filters.count, options, queue)
            rd_kafka_AclBinding_destroy_array(&filters, filters.count)
        }
    }

    private struct Rule {
        var resource = RD_KAFKA_RESOURCE_TOPIC
        let name: String
        var principal = "User:*"
        let operation: rd_kafka_AclOperation_t
        let permission: rd_kafka_AclPermissionType_t

        static func of(_ right: TestRight, _ user: String) -> Rule {
            Rule(
                resource: right.resource, name: right.name, principal: "User:\(user)", operation: right.operation,
                permission: RD_KAFKA_ACL_PERMISSION_TYPE_ALLOW)
        }

        /// A topic with any rule allows only what its rules say.
        static func denyingWriting(_ topic: String) -> [Rule] {
            [
                Rule(
                    name: topic, operation: RD_KAFKA_ACL_OPERATION_WRITE, permission: RD_KAFKA_ACL_PERMISSION_TYPE_DENY),
                Rule(
                    name: topic, operation: RD_KAFKA_ACL_OPERATION_ALL, permission: RD_KAFKA_ACL_PERMISSION_TYPE_ALLOW),
            ]
        }
    }

    /// Asks by librdkafka's admin interface until the reply is settled, and waits for a reply without an error, in each
    /// of its parts.
    private func ask(
        _ what: String, _ request: (_ client: OpaquePointer, _ options: OpaquePointer, _ queue: OpaquePointer) -> Void
    ) throws(TestKafkaError) {
        let admin = KafkaAdmin.forTests(bootstrapServers)
        do throws(KafkaError) {
            try admin.withClient { handle throws(KafkaError) in
                try admin.untilSettled { () throws(KafkaError) in
                    let event = try AdminRequest.run(handle, RD_KAFKA_ADMIN_OP_ANY, timeout: .seconds(30)) {
                        request(handle.pointer, $0, $1)
                    }
                    for code in Self.results(event.pointer) { try KafkaError.check(code) }
                }
            }
        } catch {
            throw TestKafkaError("cannot \(what): \(error)")
        }
    }

    /// The answer about each thing that was asked for.
    private static func results(_ event: OpaquePointer) -> [rd_kafka_resp_err_t] {
        var count = 0
        switch rd_kafka_event_type(event) {
        case RD_KAFKA_EVENT_DELETETOPICS_RESULT:
            let topics = rd_kafka_DeleteTopics_result_topics(rd_kafka_event_DeleteTopics_result(event), &count)
            // A missing one is deleted: by an earlier try, whose reply was for the moment.
            return UnsafeBufferPointer(start: topics, count: count).map { rd_kafka_topic_result_error($0) }
                .filter { $0 != RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART }
        case RD_KAFKA_EVENT_DELETERECORDS_RESULT:
            let offsets = rd_kafka_DeleteRecords_result_offsets(rd_kafka_event_DeleteRecords_result(event))
            guard let offsets else { return [] }
            return UnsafeBufferPointer(start: offsets.pointee.elems, count: Int(offsets.pointee.cnt)).map(\.err)
        case RD_KAFKA_EVENT_ALTERCONFIGS_RESULT:
            let resources = rd_kafka_AlterConfigs_result_resources(rd_kafka_event_AlterConfigs_result(event), &count)
            return UnsafeBufferPointer(start: resources, count: count).map { rd_kafka_ConfigResource_error($0) }
        case RD_KAFKA_EVENT_CREATEACLS_RESULT:
            let rules = rd_kafka_CreateAcls_result_acls(rd_kafka_event_CreateAcls_result(event), &count)
            return UnsafeBufferPointer(start: rules, count: count).map { code(rd_kafka_acl_result_error($0)) }
        case RD_KAFKA_EVENT_DELETEACLS_RESULT:
            let rules = rd_kafka_DeleteAcls_result_responses(rd_kafka_event_DeleteAcls_result(event), &count)
            return UnsafeBufferPointer(start: rules, count: count).map {
                code(rd_kafka_DeleteAcls_result_response_error($0))
            }
        default: return [RD_KAFKA_RESP_ERR__FAIL]
        }
    }

    private static func code(_ error: OpaquePointer?) -> rd_kafka_resp_err_t {
        error.map { rd_kafka_error_code($0) } ?? RD_KAFKA_RESP_ERR_NO_ERROR
    }

    /// Waits until the broker knows something: it learns of changes a moment after the controller.
    private func wait<Value>(
        until isSo: (Value) -> Bool, _ ask: (KafkaAdmin) throws(KafkaError) -> Value
    ) throws(TestKafkaError) {
        let admin = KafkaAdmin.forTests(bootstrapServers)
        let unsettled = KafkaError(RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE)
        do throws(KafkaError) {
            let last = try admin.untilSettled(unsettled: { isSo($0) ? nil : unsettled }) { () throws(KafkaError) in
                try ask(admin)
            }
            guard isSo(last) else { throw KafkaError(RD_KAFKA_RESP_ERR__TIMED_OUT) }
        } catch {
            throw TestKafkaError("the broker does not know a change: \(error)")
        }
    }
}
