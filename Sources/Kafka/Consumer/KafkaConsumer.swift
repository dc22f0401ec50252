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
    /// are left out. A failed commit is counted and not repeated; the next one replaces it.
    public func commit(_ offsets: [TopicPartition: Int64]) { commands.post(.commit(offsets)) }

    /// Asks for the group's committed offsets: ``KafkaConsumerEvent/committedOffsets(_:)`` follows within a second or
    /// so.
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

/// A message of the consumer's thread to its owner. Events come in the order in which things happened.
public enum KafkaConsumerEvent: Sendable {
    /// The group has let this member in and granted it these partitions, perhaps none, besides those that it has. The
    /// group has its answer already; nothing is read of them before ``KafkaConsumer/assign(_:)``.
    case assigned([TopicPartition])
    /// The group has taken these partitions away; it has its answer already. No record of theirs follows.
    case revoked([TopicPartition])
    /// As ``revoked(_:)``, but they may have been another member's for a while: the session had run out.
    case lost([TopicPartition])
    /// Records within the demand; those of one partition in the order of their offsets.
    case records([KafkaBatch])
    /// A partition goes on at an offset below the expected one: its topic was made anew, or lost its end in an unclean
    /// election. It is not read any more until it is assigned again.
    case offsetsWentBack(TopicPartition, assignmentID: UInt64)
    /// The answer to ``KafkaConsumer/fetchCommitted(_:)``: the group's offset of each partition that was asked for, nil
    /// where it has none. Without an answer nil, and the owner asks again.
    case committedOffsets([TopicPartition: Int64?]?)
    /// librdkafka reports an error. After a fatal one nothing comes any more until the consumer is stopped; all others
    /// it goes on trying by itself.
    case failed(KafkaError)
    /// A record came damaged, and librdkafka would go on behind it. The partition is not read any more until it is
    /// assigned again.
    case unreadable(TopicPartition, assignmentID: UInt64)
    /// A sign of life, every five seconds: librdkafka's main thread has sent statistics, and the consumer's own thread
    /// has taken them. librdkafka before 2.6.1 can loop for ever in the one, or in a call of the other.
    case alive
    /// No broker can be reached, or one can again. It can at the start.
    case reachable(Bool)
    /// The last event: the group was left (or could not be in time) and the client is freed.
    case stopped
}

public struct KafkaBatch: Sendable, Hashable {
    public let partition: TopicPartition
    /// The number of the ``KafkaStart`` that the partition is read under.
    public let assignmentID: UInt64
    public let records: [InputRecord]
}

public struct KafkaStart: Sendable, Hashable {
    public let partition: TopicPartition
    public let offset: Int64?
    /// The owner's number for this assignment. It comes back with the records, so that records of an earlier assignment
    /// can be recognised.
    public let assignmentID: UInt64

    /// Begins to read at an offset, which need not hold a record; nil begins at the oldest one.
    public init(_ partition: TopicPartition, from offset: Int64?, assignmentID: UInt64) {
        self.partition = partition
        self.offset = offset
        self.assignmentID = assignmentID
    }
}

enum ConsumerCommand: Sendable {
    case demand(records: Int64, bytes: Int64)
    case assign([KafkaStart])
    case unassign([TopicPartition])
    case commit([TopicPartition: Int64])
    case fetchCommitted([TopicPartition])
    case stop(until: Instant)
}
