internal import CLibrdkafka
public import Contract
public import Logging
public import Metrics
internal import Scheduling
internal import Threading

/// A member of a consumer group, driven by commands and answering by events.
///
/// One thread owns the librdkafka client. Methods post a command to it and return at once, from any thread. Events come
/// on that thread, in order, through the `sink` that the consumer is made with. The group is always answered at once,
/// independent of the owner. The owner takes partitions over after ``KafkaConsumerEvent/assigned(_:)``, and then says
/// where reading starts. Records come only as far as ``demand(records:bytes:)`` allows. The others stay in
/// librdkafka's bounded prefetch.
public final class KafkaConsumer: Sendable {
    /// Commands that wait at once if the owner keeps to one per kind and turn of its own.
    static let maxWaitingCommands = 10_000
    /// Time that a consumer which was released without ``stop(within:)`` may take to leave its group.
    private static let abandonedLimit = Duration.seconds(5)

    private let commands: Mailbox<ConsumerCommand>
    private let thread: OwnerThread

    /// Asks to be let into the group and returns at once.
    /// - Parameter sink: called on the consumer's thread with each event; must return at once, so it leaves the event
    ///   in a mailbox.
    /// - Throws: a configuration error that names the property, or `resourcesExhausted`.
    public init(
        configuration: KafkaConsumerConfiguration, metrics: PrometheusRegistry = .shared, logger: Logger,
        sink: @escaping @Sendable (KafkaConsumerEvent) -> Void
    ) throws(KafkaError) {
        let handle = try ClientHandle(
            RD_KAFKA_CONSUMER, properties: try configuration.properties(),
            events: RD_KAFKA_EVENT_REBALANCE | RD_KAFKA_EVENT_OFFSET_COMMIT)
        do throws(KafkaError) {
            let topics = configuration.topics.map { TopicPartition(topic: $0, partition: RD_KAFKA_PARTITION_UA) }
            let list = try PartitionList(topics)
            try KafkaError.check(rd_kafka_subscribe(handle.pointer, list.pointer))
        } catch {
            handle.destroy()
            throw error
        }
        do throws(ThreadingError) {
            let commands = try Mailbox<ConsumerCommand>(bound: Self.maxWaitingCommands)
            self.commands = commands
            thread = try OwnerThread(name: "kafka-consumer") {
                Self.run(handle, configuration, commands, metrics, logger, sink)
            }
        } catch {
            handle.destroy()
            throw KafkaError(error)
        }
    }

    deinit { commands.post(.stop(until: .now + Self.abandonedLimit)) }

    /// Allows so many records, and so many bytes of keys, values and headers, **counted from the consumer's start**.
    /// Each call replaces the totals of the former one. So records that are under way do not change the meaning of a
    /// demand, and a lower demand revokes the unused part. Both totals bind; the last record may exceed the bytes.
    public func demand(records: Int64, bytes: Int64) { commands.post(.demand(records: records, bytes: bytes)) }

    /// Begins to read partitions, or restarts reading them. Partitions that the group has not granted to this member,
    /// or has revoked meanwhile, are left out.
    public func assign(_ starts: [KafkaStart]) { commands.post(.assign(starts)) }

    /// Ends the reading of partitions; the group still counts them as this member's.
    public func unassign(_ partitions: [TopicPartition]) { commands.post(.unassign(partitions)) }

    /// Commits offsets (the next to be read), one commit at a time. Offsets of partitions that are not this member's
    /// are left out. A failed commit is counted, and sent again after a second unless this consumer stops.
    public func commit(_ offsets: [TopicPartition: Int64]) { commands.post(.commit(offsets)) }

    /// Asks for the group's committed offsets: ``KafkaConsumerEvent/committedOffsets(_:)`` follows within some seconds.
    public func fetchCommitted(_ partitions: [TopicPartition]) { commands.post(.fetchCommitted(partitions)) }

    /// Stops handing over records, sends the waiting commits, leaves the group and frees the client, all within
    /// `limit`. ``KafkaConsumerEvent/stopped`` is the last event. A second call changes nothing.
    public func stop(within limit: Duration) { commands.post(.stop(until: .now + limit)) }

    /// Waits until the thread has ended, after ``stop(within:)``. Not to be called from the sink.
    public func join() { thread.join() }

    /// The owner thread, from beginning to end.
    private static func run(
        _ handle: ClientHandle, _ configuration: KafkaConsumerConfiguration, _ commands: Mailbox<ConsumerCommand>,
        _ metrics: PrometheusRegistry, _ logger: Logger, _ sink: @escaping @Sendable (KafkaConsumerEvent) -> Void
    ) {
        let deadline: Instant
        do throws(KafkaError) {
            deadline = try ConsumerLoop(
                handle: handle, configuration: configuration, commands: commands, metrics: metrics, logger: logger,
                sink: sink
            ).run()
        } catch {
            logger.error("The Kafka consumer cannot start", metadata: ["error": "\(error)"])
            sink(.failed(error))
            deadline = .now + abandonedLimit
        }
        commands.close()
        // The loop has left the group, if that was possible at all.
        if !handle.destroy(until: deadline) {
            logger.warning("The Kafka consumer's client was left behind: it is not freed in time")
        }
        sink(.stopped)
    }
}
