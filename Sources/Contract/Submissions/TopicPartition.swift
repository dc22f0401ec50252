/// A partition of the input topic.
public struct TopicPartition: Hashable, Sendable, Comparable, CustomStringConvertible {
    public let topic: String
    public let partition: Int32

    public init(topic: String, partition: Int32) {
        self.topic = topic
        self.partition = partition
    }

    /// By topic, then by number.
    public static func < (left: TopicPartition, right: TopicPartition) -> Bool {
        (left.topic, left.partition) < (right.topic, right.partition)
    }

    public var description: String { "\(topic)/\(partition)" }
}

extension Origin {
    /// The partition that the record stands in.
    public var topicPartition: TopicPartition { TopicPartition(topic: topic, partition: partition) }
}
