/// One partition of one topic.
public struct KafkaPartition: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The topic's name.
    public let topic: String
    /// The partition's number, from 0.
    public let index: Int32

    /// Names the partition; it need not exist.
    public init(topic: String, index: Int32) {
        self.topic = topic
        self.index = index
    }

    /// By the number alone: a client has one topic or a few, and a topic's name costs more to hash than to compare.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(index)
    }

    /// `topic[index]`.
    public var description: String { "\(topic)[\(index)]" }

    /// By topic, then by number.
    public static func < (left: Self, right: Self) -> Bool {
        (left.topic, left.index) < (right.topic, right.index)
    }
}

/// One header of a record. A name may occur more than once; order is kept.
public struct KafkaHeader: Sendable, Hashable {
    /// The header's name.
    public let name: String
    /// Its bytes; `nil` is a null value, which differs from an empty one.
    public let value: [UInt8]?

    /// A header with these bytes.
    public init(name: String, value: [UInt8]?) {
        self.name = name
        self.value = value
    }
}
