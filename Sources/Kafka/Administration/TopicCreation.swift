internal import CLibrdkafka

/// A topic to be created.
public struct KafkaNewTopic: Sendable, Hashable {
    /// Its name.
    public var name: String
    /// How many partitions; they can be added later, never taken away.
    public var partitions: Int
    /// How many copies of each; nil for the cluster's default (brokers from 2.4).
    public var replicas: Int?
    /// Topic properties like `retention.ms`, `min.insync.replicas`, `max.message.bytes` and `cleanup.policy`.
    public var configuration: [String: String]

    /// A topic with these properties.
    public init(name: String, partitions: Int, replicas: Int? = nil, configuration: [String: String] = [:]) {
        self.name = name
        self.partitions = partitions
        self.replicas = replicas
        self.configuration = configuration
    }
}

extension KafkaAdmin {
    /// Creates topics. One that exists is answered with `rejected` (`TOPIC_ALREADY_EXISTS`).
    ///
    /// - Returns: for each topic nil, or why it was not created.
    /// - Throws: when the request as a whole failed: `transient`, `denied`, configuration errors.
    public func createTopics(
        _ topics: [KafkaNewTopic], timeout: Duration = .seconds(30)
    ) throws(KafkaError) -> [String: KafkaError?] {
        guard !topics.isEmpty else { return [:] }
        return try withClient { handle throws(KafkaError) in
            var requests: [OpaquePointer?] = []
            defer { requests.forEach { rd_kafka_NewTopic_destroy($0) } }
            for topic in topics { requests.append(try Self.request(topic)) }
            return try AdminRequest.run(handle, RD_KAFKA_ADMIN_OP_CREATETOPICS, timeout: timeout) { options, queue in
                rd_kafka_CreateTopics(handle.pointer, &requests, requests.count, options, queue)
            } read: { event throws(KafkaError) in
                Self.answer(event)
            }
        }
    }

    private static func answer(_ event: OpaquePointer) -> [String: KafkaError?] {
        var count = 0
        let topics = rd_kafka_event_CreateTopics_result(event).flatMap {
            rd_kafka_CreateTopics_result_topics($0, &count)
        }
        var answers: [String: KafkaError?] = [:]
        for topic in UnsafeBufferPointer(start: topics, count: count) {
            guard let name = rd_kafka_topic_result_name(topic) else { continue }
            let code = rd_kafka_topic_result_error(topic)
            let text = rd_kafka_topic_result_error_string(topic).map(String.init(cString:))
            answers[String(cString: name)] =
                .some(code == RD_KAFKA_RESP_ERR_NO_ERROR ? nil : KafkaError(code, text: text))
        }
        return answers
    }

    private static func request(_ topic: KafkaNewTopic) throws(KafkaError) -> OpaquePointer {
        guard topic.partitions > 0 else { throw KafkaError(RD_KAFKA_RESP_ERR_INVALID_PARTITIONS) }
        var text = [CChar](repeating: 0, count: 512)
        let new = rd_kafka_NewTopic_new(
            topic.name, Int32(clamping: topic.partitions), Int32(clamping: topic.replicas ?? -1), &text, text.count)
        guard let new else { throw KafkaError(RD_KAFKA_RESP_ERR__INVALID_ARG, text: String(cText: text)) }
        for (key, value) in topic.configuration.sorted(by: { $0.key < $1.key }) {
            let code = rd_kafka_NewTopic_set_config(new, key, value)
            guard code == RD_KAFKA_RESP_ERR_NO_ERROR else {
                rd_kafka_NewTopic_destroy(new)
                throw KafkaError(code)
            }
        }
        return new
    }
}
