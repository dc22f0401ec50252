/// A record to be sent.
public struct KafkaProducerRecord: Sendable, Hashable {
    /// Where to.
    public var topic: String
    /// Decides the partition, by librdkafka's `consistent_random` unless configured otherwise; `nil` is a null key.
    public var key: [UInt8]?
    /// `nil` is a null value (a tombstone).
    public var value: [UInt8]?
    /// In order; names may repeat.
    public var headers: [KafkaHeader]
    /// Milliseconds since 1970 in UTC; `nil` for the time of sending.
    public var timestampMilliseconds: Int64?

    /// A record with these parts.
    public init(
        topic: String, key: [UInt8]?, value: [UInt8]?, headers: [KafkaHeader] = [], timestampMilliseconds: Int64? = nil
    ) {
        self.topic = topic
        self.key = key
        self.value = value
        self.headers = headers
        self.timestampMilliseconds = timestampMilliseconds
    }
}

/// What became of a record.
public enum KafkaDelivery: Sendable, Hashable {
    /// All in-sync replicas have it, at this place.
    case delivered(KafkaPartition, offset: Int64)
    /// It was given up. Sending it again is safe only where the receivers tolerate a copy, unless it is `notPersisted`.
    case failed(KafkaError, KafkaPersistence)
}

/// Whether a record that failed may be in the log all the same.
public enum KafkaPersistence: Sendable, Hashable {
    /// It is certainly not.
    case notPersisted
    /// It may be: it was sent, and the answer is missing.
    case possiblyPersisted
}
