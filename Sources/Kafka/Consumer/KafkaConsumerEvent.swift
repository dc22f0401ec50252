public import Contract
internal import Scheduling

/// A message of the consumer's thread to its owner. Events come in the order in which things happened.
public enum KafkaConsumerEvent: Sendable {
    /// The id of the group's cluster, before each ``assigned(_:)``; nil where its brokers name none.
    case cluster(String?)
    /// The group has let this member in and granted it these partitions, perhaps none, besides those that it has. The
    /// group has its answer already; nothing is read of them before ``KafkaConsumer/assign(_:)``.
    case assigned([TopicPartition])
    /// The group has taken these partitions away; it has its answer already. No record of theirs follows.
    case revoked([TopicPartition])
    /// As ``revoked(_:)``, but they may have been another member's for a while: the session had run out.
    case lost([TopicPartition])
    /// Records within the demand; those of one partition in the order of their offsets.
    case records([KafkaBatch])
    /// A partition goes on below the expected offset: its topic was made anew, or lost its end in an unclean election.
    /// It is not read any more until it is assigned again.
    case offsetsWentBack(TopicPartition, assignmentID: UInt64)
    /// The answer to ``KafkaConsumer/fetchCommitted(_:)``: the group's offset of each partition that was asked for, nil
    /// where it has none. If none of them has one, those of their topics' other partitions are with them. Without an
    /// answer nil, and the owner asks again.
    case committedOffsets([TopicPartition: Int64?]?)
    /// librdkafka reports an error. After a fatal error nothing comes any more until the consumer is stopped. After any
    /// other error it goes on by itself.
    case failed(KafkaError)
    /// The record at an offset came damaged, or the first one behind it, and librdkafka would go on behind that. The
    /// partition is not read any more until it is assigned again.
    case unreadable(TopicPartition, assignmentID: UInt64, at: Int64)
    /// A sign of life, every five seconds. The main thread of librdkafka has sent statistics, and the consumer's own
    /// thread has taken them. A librdkafka before 2.6.1 can loop for ever in its main thread, or in a call of the
    /// consumer's.
    case alive
    /// No broker can be reached, or one can again. It can at the start.
    case reachable(Bool)
    /// The last event: the group was left (or could not be in time) and the client is freed.
    case stopped
}

/// Records of one partition, in the order of their offsets.
public struct KafkaBatch: Sendable, Hashable {
    public let partition: TopicPartition
    /// The number of the ``KafkaStart`` that the partition is read under.
    public let assignmentID: UInt64
    public let records: [InputRecord]
}

/// The place that an owner has a partition read from.
public struct KafkaStart: Sendable, Hashable {
    public let partition: TopicPartition
    public let offset: Int64?
    /// The owner's number for this assignment. It comes back with the records, so that records of an earlier assignment
    /// can be recognised.
    public let assignmentID: UInt64
    /// The first offset that the owner has not read, where reading begins at the oldest record; nil if it is not known.
    public let expected: Int64?

    /// Begins to read at an offset, which need not hold a record; nil begins at the oldest one. If that comes after the
    /// expected offset, the records between are counted as gone.
    public init(
        _ partition: TopicPartition, from offset: Int64?, expected: Int64? = nil, assignmentID: UInt64
    ) {
        self.partition = partition
        self.offset = offset
        self.expected = expected
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
