internal import CLibrdkafka
public import Logging
internal import Scheduling

/// Looks at a cluster, its topics, offsets and groups, and creates topics.
///
/// Each call opens a client, blocks until it has its answer or the time for it is over, and closes the client again:
/// meant for commands and set-up, not for every second of a worker's life.
public struct KafkaAdmin: Sendable {
    /// Time that freeing a client may hold its answer up.
    private static let freeingLimit = Duration.seconds(5)

    private let configuration: KafkaClientConfiguration
    private let logger: Logger

    /// Connects nowhere yet.
    public init(configuration: KafkaClientConfiguration, logger: Logger) {
        self.configuration = configuration
        self.logger = logger
    }

    /// The cluster's brokers and topics.
    ///
    /// - Parameter topics: those to ask about, by name, so that a missing right is told from a missing topic; nil for
    ///   all that the credentials may see. Brokers that create topics on demand may create these.
    /// - Throws: `transient` when no broker answers within `timeout`, configuration errors, `resourcesExhausted`.
    public func describe(
        topics: [String]? = nil, timeout: Duration = .seconds(10)
    ) throws(KafkaError) -> KafkaClusterDescription {
        try withClient { handle throws(KafkaError) in
            let deadline = Instant.now + timeout
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

    /// Runs `body` with a client of its own.
    ///
    /// - Parameter group: makes the client a consumer that knows this group, and is no member of it.
    func withClient<Value>(
        knowing group: String? = nil, _ body: (ClientHandle) throws(KafkaError) -> Value
    ) throws(KafkaError) -> Value {
        var properties = try ClientProperties(configuration, defaults: [:], rules: [])
        if let group { properties.force(KafkaScan.properties(knowing: group)) }
        let handle = try ClientHandle(group == nil ? RD_KAFKA_PRODUCER : RD_KAFKA_CONSUMER, properties: properties)
        defer {
            if !handle.destroy(leavingGroup: false, until: .now + Self.freeingLimit) {
                logger.warning("A Kafka client for administration was left behind: it is not freed in time")
            }
        }
        do throws(KafkaError) {
            return try body(handle)
        } catch {
            throw error.explained(by: FailureReason.last(of: handle), hiding: properties.secrets)
        }
    }

    static func metadata(
        _ handle: ClientHandle, topic: String?, deadline: Instant
    ) throws(KafkaError) -> KafkaClusterDescription {
        let reference = topic.flatMap { rd_kafka_topic_new(handle.pointer, $0, nil) }
        if topic != nil, reference == nil { throw KafkaError(rd_kafka_last_error()) }
        defer { reference.map(rd_kafka_topic_destroy) }
        var metadata: UnsafePointer<rd_kafka_metadata>?
        let rest = max(deadline - .now, .zero).wholeMilliseconds
        let code = rd_kafka_metadata(handle.pointer, topic == nil ? 1 : 0, reference, &metadata, rest)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR, let metadata else { throw KafkaError(code) }
        defer { rd_kafka_metadata_destroy(metadata) }
        return KafkaClusterDescription(metadata.pointee)
    }
}
