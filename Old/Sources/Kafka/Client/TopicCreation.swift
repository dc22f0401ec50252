internal import CLibrdkafka

/// A topic to be created.
public struct KafkaNewTopic: Sendable, Hashable {
    /// Its name.
    public var name: String
    /// How many partitions; they can be added later, never taken away.
    public var partitions: Int
    /// How many copies of each; `nil` for the cluster's default (brokers from 2.4).
    public var replicas: Int?
    /// Topic properties like `retention.ms`.
    public var configuration: [String: String]

    /// A topic with these properties.
    public init(name: String, partitions: Int, replicas: Int? = nil, configuration: [String: String] = [:]) {
        self.name = name
        self.partitions = partitions
        self.replicas = replicas
        self.configuration = configuration
    }
}

/// The request that creates topics, as a blocking call.
enum TopicCreation {
    static func run(
        _ handle: KafkaHandle, _ topics: [KafkaNewTopic], timeout: Duration
    ) throws(KafkaError) -> [String: KafkaError?] {
        var requests: [OpaquePointer?] = []
        defer { requests.forEach { rd_kafka_NewTopic_destroy($0) } }
        for topic in topics { requests.append(try request(topic)) }

        guard let queue = rd_kafka_queue_new(handle.pointer) else { throw .resourcesExhausted("queue", errno: 0) }
        defer { rd_kafka_queue_destroy(queue) }
        guard let options = rd_kafka_AdminOptions_new(handle.pointer, RD_KAFKA_ADMIN_OP_CREATETOPICS) else {
            throw .resourcesExhausted("rd_kafka_AdminOptions_new", errno: 0)
        }
        defer { rd_kafka_AdminOptions_destroy(options) }
        rd_kafka_AdminOptions_set_request_timeout(options, timeout.pollMilliseconds, nil, 0)
        rd_kafka_CreateTopics(handle.pointer, &requests, requests.count, options, queue)

        // librdkafka answers by itself when its own time limit is over; the margin only keeps this from being for ever.
        let margin = Duration.seconds(5)
        guard let event = rd_kafka_queue_poll(queue, (timeout + margin).pollMilliseconds) else {
            throw KafkaError(RD_KAFKA_RESP_ERR__TIMED_OUT)
        }
        defer { rd_kafka_event_destroy(event) }
        return try answer(event)
    }

    private static func answer(_ event: OpaquePointer) throws(KafkaError) -> [String: KafkaError?] {
        let code = rd_kafka_event_error(event)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR, let result = rd_kafka_event_CreateTopics_result(event) else {
            throw KafkaError(code, text: rd_kafka_event_error_string(event).map(String.init(cString:)))
        }
        var count = 0
        let topics = rd_kafka_CreateTopics_result_topics(result, &count)
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
        guard topic.partitions > 0 else {
            throw KafkaError(RD_KAFKA_RESP_ERR_INVALID_PARTITIONS)
        }
        var text = [CChar](repeating: 0, count: 512)
        let new = rd_kafka_NewTopic_new(
            topic.name, Int32(clamping: topic.partitions), Int32(clamping: topic.replicas ?? -1), &text, text.count)
        guard let new else {
            let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
            throw KafkaError(RD_KAFKA_RESP_ERR__INVALID_ARG, text: String(decoding: bytes, as: UTF8.self))
        }
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
