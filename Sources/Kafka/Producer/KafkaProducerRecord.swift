/// A record to be sent.
public struct KafkaProducerRecord: Sendable, Hashable {
    /// The topic's name.
    public var topic: String
    /// Decides the partition, by librdkafka's `consistent_random` unless configured otherwise; nil is a null key.
    public var key: [UInt8]?
    /// Nil is a null value (a tombstone).
    public var value: [UInt8]?
    /// In order; names may repeat.
    public var headers: [KafkaHeader]
    /// Milliseconds since 1970 in UTC; nil for the time of sending.
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
