internal import CLibrdkafka

extension KafkaAdmin {
    /// The properties of topics as they are in force, defaults included; sensitive ones are left out.
    ///
    /// - Returns: for each topic its properties, or why they are not told: `transient` (`UNKNOWN_TOPIC_OR_PART`) for
    ///   one that is missing, `denied` without the right to describe its configuration.
    /// - Throws: when the request as a whole failed: `transient`, `denied`, configuration errors.
    public func topicConfigurations(
        of topics: [String], timeout: Duration = .seconds(10)
    ) throws(KafkaError) -> [String: Result<[String: String], KafkaError>] {
        guard !topics.isEmpty else { return [:] }
        return try withClient { handle throws(KafkaError) in
            var resources: [OpaquePointer?] = topics.map { rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, $0) }
            defer { rd_kafka_ConfigResource_destroy_array(&resources, resources.count) }
            guard !resources.contains(nil) else { throw .noMemory(for: "rd_kafka_ConfigResource_new") }
            return try AdminRequest.run(handle, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS, timeout: timeout) { options, queue in
                rd_kafka_DescribeConfigs(handle.pointer, &resources, resources.count, options, queue)
            } read: { event throws(KafkaError) in
                Self.configurations(in: event)
            }
        }
    }

    private static func configurations(in event: OpaquePointer) -> [String: Result<[String: String], KafkaError>] {
        var count = 0
        let resources = rd_kafka_event_DescribeConfigs_result(event).flatMap {
            rd_kafka_DescribeConfigs_result_resources($0, &count)
        }
        var answers: [String: Result<[String: String], KafkaError>] = [:]
        for resource in UnsafeBufferPointer(start: resources, count: count) {
            guard let resource, let name = rd_kafka_ConfigResource_name(resource) else { continue }
            let code = rd_kafka_ConfigResource_error(resource)
            let text = rd_kafka_ConfigResource_error_string(resource).map(String.init(cString:))
            answers[String(cString: name)] =
                code == RD_KAFKA_RESP_ERR_NO_ERROR
                ? .success(entries(of: resource)) : .failure(KafkaError(code, text: text))
        }
        return answers
    }

    private static func entries(of resource: OpaquePointer) -> [String: String] {
        var count = 0
        let entries = rd_kafka_ConfigResource_configs(resource, &count)
        var values: [String: String] = [:]
        for entry in UnsafeBufferPointer(start: entries, count: count) {
            guard let entry, rd_kafka_ConfigEntry_is_sensitive(entry) == 0, let name = rd_kafka_ConfigEntry_name(entry),
                let value = rd_kafka_ConfigEntry_value(entry)
            else { continue }
            values[String(cString: name)] = String(cString: value)
        }
        return values
    }
}
