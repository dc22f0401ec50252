internal import CLibrdkafka
public import Logging

/// Looks at a cluster, its offsets and its groups, and creates topics. Each call opens a client of its own on a thread of its
/// own and closes it again: meant for checks and set-up, not for every second of a worker's life.
public struct KafkaAdmin: Sendable {
    private let configuration: KafkaClientConfiguration
    private let logger: Logger

    /// Connects nowhere yet.
    public init(configuration: KafkaClientConfiguration, logger: Logger) {
        self.configuration = configuration
        self.logger = logger
    }

    /// What the cluster says about its brokers and topics.
    /// - Parameter topics: those to ask about, or `nil` for all. Brokers that create topics on demand may create these.
    /// - Throws: `transient` when no broker answers within `timeout`, configuration errors, `resourcesExhausted`.
    public func describe(
        topics: [String]? = nil, timeout: Duration = .seconds(10)
    ) async throws(KafkaError) -> KafkaClusterDescription {
        try await withClient { handle throws(KafkaError) in
            let deadline = ContinuousClock.now + timeout
            guard let topics else { return try Self.metadata(handle, topic: nil, deadline: deadline) }
            guard let first = topics.first else {
                let everything = try Self.metadata(handle, topic: nil, deadline: deadline)
                return KafkaClusterDescription(brokers: everything.brokers, topics: [:])
            }
            var description = try Self.metadata(handle, topic: first, deadline: deadline)
            for topic in topics.dropFirst() {
                let more = try Self.metadata(handle, topic: topic, deadline: deadline)
                description.topics.merge(more.topics) { $1 }
            }
            return description
        }
    }

    /// Creates topics. One that exists is answered with `rejected` (`TOPIC_ALREADY_EXISTS`).
    /// - Returns: for each topic `nil`, or why it was not created.
    /// - Throws: when the request as a whole failed: `transient`, `denied`, configuration errors.
    public func createTopics(
        _ topics: [KafkaNewTopic], timeout: Duration = .seconds(30)
    ) async throws(KafkaError) -> [String: KafkaError?] {
        guard !topics.isEmpty else { return [:] }
        return try await withClient { handle throws(KafkaError) in
            try TopicCreation.run(handle, topics, timeout: timeout)
        }
    }

    /// - Parameter group: makes the client a consumer that knows this group, and is no member of it.
    func withClient<Value: Sendable>(
        knowing group: String? = nil, _ body: @escaping @Sendable (KafkaHandle) throws(KafkaError) -> Value
    ) async throws(KafkaError) -> Value {
        try await DedicatedThread.call("kafka-admin") { [configuration, logger] in
            do throws(KafkaError) {
                var properties = try ClientProperties(configuration, defaults: [:], guards: [])
                if let group { properties.force(KafkaScan.properties(knowing: group)) }
                let handle = try KafkaHandle(
                    group == nil ? RD_KAFKA_PRODUCER : RD_KAFKA_CONSUMER, properties: properties, events: 0)
                defer { Self.free(handle, logger) }
                do throws(KafkaError) {
                    return .success(try body(handle))
                } catch {
                    throw error.explained(by: ClientComplaint.last(of: handle), hiding: properties.secrets)
                }
            } catch {
                logger.debug("Kafka administration failed", metadata: ["error": "\(error)"])
                return .failure(error)
            }
        }
    }

    /// How long freeing a client may hold its answer up.
    private static let freeingDeadline = Duration.seconds(5)

    private static func free(_ handle: KafkaHandle, _ logger: Logger) {
        do throws(KafkaError) {
            guard try !handle.destroy(leavingGroup: false, timeout: freeingDeadline) else { return }
            logger.warning("A Kafka client for administration was left behind: it is not freed in time")
        } catch {
            // No thread to watch it from. This one is the caller's own.
            handle.destroy(leavingGroup: false)
        }
    }

    static func metadata(
        _ handle: KafkaHandle, topic: String?, deadline: ContinuousClock.Instant
    ) throws(KafkaError) -> KafkaClusterDescription {
        let reference = topic.flatMap { rd_kafka_topic_new(handle.pointer, $0, nil) }
        if topic != nil, reference == nil { throw KafkaError(rd_kafka_last_error()) }
        defer { reference.map(rd_kafka_topic_destroy) }
        var metadata: UnsafePointer<rd_kafka_metadata>?
        let code = rd_kafka_metadata(
            handle.pointer, topic == nil ? 1 : 0, reference, &metadata, max(deadline - .now, .zero).pollMilliseconds)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR, let metadata else { throw KafkaError(code) }
        defer { rd_kafka_metadata_destroy(metadata) }
        return KafkaClusterDescription(metadata.pointee)
    }
}
