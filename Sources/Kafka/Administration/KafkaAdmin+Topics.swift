internal import CLibrdkafka

/// A topic that ``KafkaAdmin/createTopics(_:)`` is to create.
public struct KafkaNewTopic: Sendable, Hashable {
    public var name: String
    /// They can be added later, never taken away.
    public var partitions: Int
    /// How many copies of each; nil for the cluster's default (brokers from 2.4).
    public var replicas: Int?
    /// Topic properties like `retention.ms`, `min.insync.replicas`, `max.message.bytes` and `cleanup.policy`.
    public var configuration: [String: String]

    public init(name: String, partitions: Int, replicas: Int? = nil, configuration: [String: String] = [:]) {
        self.name = name
        self.partitions = partitions
        self.replicas = replicas
        self.configuration = configuration
    }
}

extension KafkaAdmin {
    private static let creationTimeout = Duration.seconds(30)

    /// Creates topics, and returns once the brokers list them or the time for a question is over. The error for an
    /// existing topic is `rejected` (`TOPIC_ALREADY_EXISTS`).
    /// - Returns: for each topic whether it was created, or why not.
    /// - Throws: when the request as a whole failed: `transient`, `denied`, configuration errors.
    public func createTopics(_ topics: [KafkaNewTopic]) throws(KafkaError) -> [String: Result<Void, KafkaError>] {
        guard !topics.isEmpty else { return [:] }
        return try withClient { handle throws(KafkaError) in
            var replies = CreatedTopics(topics)
            let settled = try untilSettled(unsettled: \.unsettled) { () throws(KafkaError) in
                replies.take(try create(replies.open, handle))
                return replies
            }
            waitUntilKnown(settled.made, handle)
            return settled.byName
        }
    }

    /// Asks once.
    private func create(
        _ topics: [KafkaNewTopic], _ handle: ClientHandle
    ) throws(KafkaError) -> [String: Result<Void, KafkaError>] {
        var requests: [OpaquePointer?] = []
        defer { requests.forEach { rd_kafka_NewTopic_destroy($0) } }
        for topic in topics { requests.append(try Self.request(topic)) }
        let event = try AdminRequest.run(handle, RD_KAFKA_ADMIN_OP_CREATETOPICS, timeout: Self.creationTimeout) {
            rd_kafka_CreateTopics(handle.pointer, &requests, requests.count, $0, $1)
        }
        return Self.reply(event.pointer)
    }

    /// Waits until the brokers list new topics and their leaders, which the controller knows before them. Topics that
    /// are not told of in time are made all the same.
    private func waitUntilKnown(_ names: [String], _ handle: ClientHandle) {
        guard !names.isEmpty else { return }
        let unknown = KafkaError(RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE)
        _ = try? untilSettled(unsettled: { $0.knows(names) ? nil : unknown }) { () throws(KafkaError) in
            try handle.metadata(of: nil, timeout: timeout)
        }
    }

    private static func reply(_ event: OpaquePointer) -> [String: Result<Void, KafkaError>] {
        var count = 0
        let topics = rd_kafka_event_CreateTopics_result(event).flatMap {
            rd_kafka_CreateTopics_result_topics($0, &count)
        }
        var replies: [String: Result<Void, KafkaError>] = [:]
        for topic in UnsafeBufferPointer(start: topics, count: count) {
            guard let name = rd_kafka_topic_result_name(topic) else { continue }
            let code = rd_kafka_topic_result_error(topic)
            let text = rd_kafka_topic_result_error_string(topic).map(String.init(cString:))
            replies[String(cString: name)] =
                code == RD_KAFKA_RESP_ERR_NO_ERROR ? .success(()) : .failure(KafkaError(code, text: text))
        }
        return replies
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

extension KafkaAdmin {
    /// The properties of topics as they are in force, defaults included; sensitive ones are left out.
    /// - Returns: for each topic its properties, or why they are not known. It is `transient` (`UNKNOWN_TOPIC_OR_PART`)
    ///   for a topic that is missing for as long as the question may take. It is `denied` without the right to describe
    ///   the topic.
    /// - Throws: when the request as a whole failed: `transient`, `denied`, configuration errors.
    public func topicConfigurations(
        of topics: [String]
    ) throws(KafkaError) -> [String: Result<[String: String], KafkaError>] {
        guard !topics.isEmpty else { return [:] }
        return try withClient { handle throws(KafkaError) in
            // Nil for an empty name alone; freeing a nil would end the process.
            let made = topics.map { rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, $0) }
            var resources: [OpaquePointer?] = made.filter { $0 != nil }
            defer { rd_kafka_ConfigResource_destroy_array(&resources, resources.count) }
            guard resources.count == topics.count else {
                throw KafkaError(RD_KAFKA_RESP_ERR__INVALID_ARG, text: "a topic has no name")
            }
            return try untilSettled(unsettled: Self.unsettled) { () throws(KafkaError) in
                let event = try AdminRequest.run(handle, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS, timeout: timeout) {
                    rd_kafka_DescribeConfigs(handle.pointer, &resources, resources.count, $0, $1)
                }
                return Self.configurations(in: event.pointer)
            }
        }
    }

    private static func unsettled(_ replies: [String: Result<[String: String], KafkaError>]) -> KafkaError? {
        replies.values.lazy.compactMap(\.error).first(where: \.isForTheMoment)
    }

    private static func configurations(in event: OpaquePointer) -> [String: Result<[String: String], KafkaError>] {
        var count = 0
        let resources = rd_kafka_event_DescribeConfigs_result(event).flatMap {
            rd_kafka_DescribeConfigs_result_resources($0, &count)
        }
        var replies: [String: Result<[String: String], KafkaError>] = [:]
        for resource in UnsafeBufferPointer(start: resources, count: count) {
            guard let resource, let name = rd_kafka_ConfigResource_name(resource) else { continue }
            let code = rd_kafka_ConfigResource_error(resource)
            let text = rd_kafka_ConfigResource_error_string(resource).map(String.init(cString:))
            replies[String(cString: name)] =
                code == RD_KAFKA_RESP_ERR_NO_ERROR
                ? .success(entries(of: resource)) : .failure(KafkaError(code, text: text))
        }
        return replies
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

/// The replies to a request for topics that is repeated. Pure.
struct CreatedTopics {
    private let topics: [KafkaNewTopic]
    private(set) var byName: [String: Result<Void, KafkaError>] = [:]

    init(_ topics: [KafkaNewTopic]) { self.topics = topics }

    /// The topics to ask for: all, then those whose reply was for the moment.
    var open: [KafkaNewTopic] {
        topics.filter { topic in
            guard let reply = byName[topic.name] else { return true }
            return reply.error?.isForTheMoment ?? false
        }
    }

    /// A reply that is for the moment, if there is one.
    var unsettled: KafkaError? { byName.values.lazy.compactMap(\.error).first(where: \.isForTheMoment) }

    var made: [String] { topics.map(\.name).filter { if case .success? = byName[$0] { true } else { false } } }

    /// Takes the replies of a try. A topic that exists at a second try was made by the first try.
    mutating func take(_ replies: [String: Result<Void, KafkaError>]) {
        for (name, reply) in replies {
            let isRepeated = byName[name] != nil
            let isThere = reply.error?.failure?.code == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS.rawValue
            byName[name] = isRepeated && isThere ? .success(()) : reply
        }
    }
}

extension Result {
    /// Nil for a success.
    fileprivate var error: Failure? { if case .failure(let error) = self { error } else { nil } }
}

extension KafkaClusterDescription {
    /// Whether all these topics are listed, and each of their partitions has a leader.
    func knows(_ names: [String]) -> Bool {
        names.allSatisfy {
            if case .present(let partitions)? = topics[$0] { partitions.leaderless == 0 } else { false }
        }
    }
}
