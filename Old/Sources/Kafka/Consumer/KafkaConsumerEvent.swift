/// What `KafkaConsumer.next` answers.
public enum KafkaConsumerEvent: Sendable {
    /// At least one record; those of one partition are in the order of their offsets.
    case records([KafkaRecord])
    /// These partitions are now this member's, under this epoch. Records of theirs follow, never precede.
    case assigned([KafkaPartition], epoch: UInt64)
    /// These partitions are being taken away. No record of theirs follows until they are assigned again.
    case revoking(KafkaRevocation)
}

/// One record, copied out of librdkafka's memory.
public struct KafkaRecord: Sendable, Hashable {
    /// Where it was read from.
    public let partition: KafkaPartition
    /// Its place in the partition.
    public let offset: Int64
    /// Milliseconds since 1970 in UTC, by the producer's or the broker's clock as the topic is set; `nil` if unknown.
    public let timestampMilliseconds: Int64?
    /// `nil` for a null key, which differs from an empty one.
    public let key: [UInt8]?
    /// `nil` for a null value (a tombstone), which differs from an empty one.
    public let value: [UInt8]?
    /// In order, repeated names kept.
    public let headers: [KafkaHeader]
    /// Which of this member's assignments the partition belonged to; it grows with each. Work of an older epoch must
    /// not move the offset of a newer one.
    public let epoch: UInt64

    /// Bytes of key, value and headers: what `maxBytes` counts.
    public var byteCount: Int {
        headers.reduce((key?.count ?? 0) + (value?.count ?? 0)) { sum, header in
            sum + header.name.utf8.count + (header.value?.count ?? 0)
        }
    }
}

/// Partitions on their way to another member. The group waits until `complete` is called or the deadline is over.
public struct KafkaRevocation: Sendable {
    /// What is taken away.
    public let partitions: [KafkaPartition]
    /// They already belong to somebody else (a session ran out): nothing is waited for, nothing can be committed.
    public let lost: Bool

    let id: UInt64
    let inbox: ConsumerInbox

    /// Lets the partitions go. `offsets` (the next to read of each) are stored and committed first, together with
    /// those that were stored before, unless the partitions are lost. Later calls and calls past the deadline do nothing.
    public func complete(storing offsets: [KafkaPartition: Int64] = [:]) {
        inbox.submit(.completeRevocation(id: id, offsets: offsets))
    }
}
