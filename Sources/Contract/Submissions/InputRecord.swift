/// A place in the input topic.
public struct Origin: Hashable, Sendable, Comparable, CustomStringConvertible {
    public let topic: String
    public let partition: Int32
    public let offset: Int64

    /// A record's place.
    public init(topic: String, partition: Int32, offset: Int64) {
        self.topic = topic
        self.partition = partition
        self.offset = offset
    }

    /// By topic, partition and offset.
    public static func < (left: Origin, right: Origin) -> Bool {
        (left.topic, left.partition, left.offset) < (right.topic, right.partition, right.offset)
    }

    public var description: String { "\(topic)/\(partition)/\(offset)" }
}

/// A header of a Kafka record. Names may repeat; a value may be absent.
public struct RecordHeader: Hashable, Sendable {
    public let name: String
    public let value: [UInt8]?

    /// A header with raw bytes.
    public init(name: String, value: [UInt8]?) {
        self.name = name
        self.value = value
    }

    /// A header with text, as UTF-8.
    public init(_ name: String, _ text: String) {
        self.init(name: name, value: Array(text.utf8))
    }
}

/// A record of the input topic, as it came.
public struct InputRecord: Hashable, Sendable {
    public let origin: Origin
    public let key: [UInt8]?
    /// Nil for a tombstone.
    public let value: [UInt8]?
    public let headers: [RecordHeader]
    /// The record's own time; nil where it has none (message format 0).
    public let timestamp: Timestamp?

    /// A record with everything it came with.
    public init(
        origin: Origin, key: [UInt8]?, value: [UInt8]?, headers: [RecordHeader] = [], timestamp: Timestamp?
    ) {
        self.origin = origin
        self.key = key
        self.value = value
        self.headers = headers
        self.timestamp = timestamp
    }

    /// Bytes of key, value and headers: what the in-flight limit counts for it.
    public var byteCount: Int {
        headers.reduce((value?.count ?? 0) + (key?.count ?? 0)) { $0 + $1.name.utf8.count + ($1.value?.count ?? 0) }
    }
}
