package import CLibrdkafka
public import Contract
public import Logging
internal import Scheduling

/// Reads a cluster's topics, and creates topics.
///
/// Each call opens a client, blocks until its reply or its timeout, and closes the client again. A reply that is
/// for the moment is asked for again (``RepeatedQuestion``). It is meant for commands and set-up, not for a worker's
/// regular work.
public struct KafkaAdmin: Sendable {
    /// Time that freeing a client may hold its reply up.
    static let freeingLimit = Duration.seconds(5)

    let configuration: KafkaClientConfiguration
    let logger: Logger
    let timeout: Duration

    /// - Parameter timeout: for each question, and for asking it again.
    public init(configuration: KafkaClientConfiguration, logger: Logger, timeout: Duration = .seconds(10)) {
        self.configuration = configuration
        self.logger = logger
        self.timeout = timeout
    }

    /// The cluster's brokers, and the topics that the credentials may see.
    ///
    /// All topics are asked for: naming one would make some brokers create it.
    /// - Throws: `transient` when no broker replies in time, configuration errors, `resourcesExhausted`.
    public func describe() throws(KafkaError) -> KafkaClusterDescription {
        try withClient { handle throws(KafkaError) in
            try untilSettled { () throws(KafkaError) in try handle.metadata(of: nil, timeout: timeout) }
        }
    }

    /// The offsets (the next to be read) that a group has committed; partitions without one are left out.
    /// - Throws: `denied` where the group may not be looked at, configuration errors. The error is `transient` when the
    ///   group's coordinator does not reply in time or is missing for so long.
    public func committedOffsets(
        of group: String, in partitions: [TopicPartition]
    ) throws(KafkaError) -> [TopicPartition: Int64] {
        try withClient(RD_KAFKA_CONSUMER, forced: ["group.id": group]) { handle throws(KafkaError) in
            try untilSettled { () throws(KafkaError) in try handle.committedOffsets(partitions, timeout: timeout) }
        }
    }

    /// Runs `body` with a client of its own.
    /// - Parameters:
    ///   - forced: properties that win over the operator's.
    ///   - events: the ones that come out of its queues besides logs, errors and statistics.
    package func withClient<Value>(
        _ type: rd_kafka_type_t = RD_KAFKA_PRODUCER, forced: [String: String] = [:], events: Int32 = 0,
        _ body: (ClientHandle) throws(KafkaError) -> Value
    ) throws(KafkaError) -> Value {
        let properties = try ClientProperties(configuration, forced: forced)
        let handle = try ClientHandle(type, properties: properties, events: events)
        defer {
            if !handle.destroy(until: .now + Self.freeingLimit) {
                logger.warning("A Kafka client for administration was left behind: it is not freed in time")
            }
        }
        do throws(KafkaError) {
            return try body(handle)
        } catch {
            throw error.explained(by: LoggedReason.last(of: handle), hiding: properties.secrets)
        }
    }
}

/// One question of librdkafka's admin interface: asked, waited for and freed.
package enum AdminRequest {
    /// Time beyond a request's own limit. librdkafka replies by itself at that limit, so this only keeps a wait from
    /// lasting for ever.
    private static let margin = Duration.seconds(5)

    /// Asks and waits.
    /// - Parameter ask: gives the request to librdkafka, with the options and the queue for its reply.
    /// - Returns: the reply, which is no error.
    package static func run(
        _ handle: ClientHandle, _ operation: rd_kafka_admin_op_t, timeout: Duration,
        ask: (_ options: OpaquePointer, _ queue: OpaquePointer) -> Void
    ) throws(KafkaError) -> ClientEvent {
        let queue = try ClientQueue.make(handle)
        guard let options = rd_kafka_AdminOptions_new(handle.pointer, operation) else {
            throw .noMemory(for: "rd_kafka_AdminOptions_new")
        }
        defer { rd_kafka_AdminOptions_destroy(options) }
        rd_kafka_AdminOptions_set_request_timeout(options, timeout.wholeMilliseconds, nil, 0)
        ask(options, queue.pointer)
        guard let event = queue.nextEvent(milliseconds: (timeout + margin).wholeMilliseconds) else {
            throw KafkaError(RD_KAFKA_RESP_ERR__TIMED_OUT)
        }
        let code = rd_kafka_event_error(event.pointer)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else {
            throw KafkaError(code, text: rd_kafka_event_error_string(event.pointer).map(String.init(cString:)))
        }
        return event
    }
}
