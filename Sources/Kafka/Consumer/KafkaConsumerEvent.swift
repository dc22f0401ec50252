/// A message of the consumer's thread to its owner. Events come in the order in which things happened.
public enum KafkaConsumerEvent: Sendable {
    /// The group has let this member in and granted it these partitions, perhaps none, besides those that it has. The group has its answer already;
    /// nothing is read of them before ``KafkaConsumer/assign(_:)``.
    case assigned([KafkaPartition])
    /// The group has taken these partitions away; it has its answer already. No record of theirs follows.
    case revoked([KafkaPartition])
    /// As ``revoked(_:)``, but they may have been another member's for a while: the session had run out.
    case lost([KafkaPartition])
    /// Records within the demand; those of one partition in the order of their offsets.
    case records([KafkaBatch])
    /// These records were deleted before they were read (retention); reading goes on after them.
    case recordsGone(KafkaPartition, assignmentID: UInt64, Range<Int64>)
    /// A partition goes on at an offset below the expected one: its topic was made anew, or lost its end in an unclean
    /// election. It is not read any more until it is assigned again.
    case offsetsWentBack(KafkaPartition, assignmentID: UInt64, expected: Int64, found: Int64)
    /// The group has these offsets.
    case committed([KafkaPartition: Int64])
    /// The group does not have these offsets, or it is not known.
    case commitFailed([KafkaPartition: Int64], KafkaError)
    /// The answer to ``KafkaConsumer/fetchCommitted(_:)``: the group's offset of each partition that was asked for; nil
    /// where it has none.
    case committedOffsets([KafkaPartition: Int64?])
    /// No answer to ``KafkaConsumer/fetchCommitted(_:)``; the owner asks again.
    case committedOffsetsFailed([KafkaPartition], KafkaError)
    /// librdkafka reports an error. After a fatal one nothing comes any more until the consumer is stopped; all others
    /// it goes on trying by itself.
    case failed(KafkaError)
    /// The last event: the group was left (or could not be in time) and the client is freed.
    case stopped
}

/// Consecutive records of one partition.
public struct KafkaBatch: Sendable, Hashable {
    public let partition: KafkaPartition
    /// The number of the ``KafkaStart`` that the partition is read under.
    public let assignmentID: UInt64
    /// At least one.
    public let records: [KafkaRecord]
    /// The partition's end as the last answer of its leader had it: the next offset to be written. Nil if not known.
    public let end: Int64?
}

/// One record, copied out of librdkafka's memory.
public struct KafkaRecord: Sendable, Hashable {
    /// Its place in the partition.
    public let offset: Int64
    /// Milliseconds since 1970 in UTC, by the producer's or the broker's clock as the topic is set; nil if unknown.
    public let timestampMilliseconds: Int64?
    /// Nil for a null key, which differs from an empty one.
    public let key: [UInt8]?
    /// Nil for a null value (a tombstone), which differs from an empty one.
    public let value: [UInt8]?
    /// In order, repeated names kept.
    public let headers: [KafkaHeader]

    public init(
        offset: Int64, timestampMilliseconds: Int64?, key: [UInt8]?, value: [UInt8]?, headers: [KafkaHeader] = []
    ) {
        self.offset = offset
        self.timestampMilliseconds = timestampMilliseconds
        self.key = key
        self.value = value
        self.headers = headers
    }

    /// Bytes of key, value and headers: the measure of a demand's `bytes`.
    public var byteCount: Int {
        headers.reduce((key?.count ?? 0) + (value?.count ?? 0)) { sum, header in
            sum + header.name.utf8.count + (header.value?.count ?? 0)
        }
    }
}
