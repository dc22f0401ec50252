public import Fulfillment
public import Ledger

/// Where an audit begins and ends: what was true before it read anything else. Everything is judged by this, so that what
/// workers do meanwhile is no violation.
public struct AuditBounds: Sendable {
    /// How far the ledger said that the outbox is published.
    public let relay: RelayState
    /// The offsets (next to read) that the group had committed.
    public let committed: [TopicPartition: Int64]
    /// What each partition of the four topics held: from its oldest record to the next to be written.
    public let offsets: [TopicPartition: Range<Int64>]

    /// What was found at the beginning.
    public init(
        relay: RelayState, committed: [TopicPartition: Int64], offsets: [TopicPartition: Range<Int64>]
    ) {
        self.relay = relay
        self.committed = committed
        self.offsets = offsets
    }
}

/// A record's place in 16 bytes.
struct Place: Hashable, Comparable, Sendable {
    /// Index in ``Places``.
    let partition: Int32
    let offset: Int64

    static func < (left: Place, right: Place) -> Bool {
        (left.partition, left.offset) < (right.partition, right.offset)
    }
}

/// The partitions of an audit, numbered.
struct Places: Sendable {
    let partitions: [TopicPartition]
    private let numbers: [TopicPartition: Int32]

    init(_ partitions: some Sequence<TopicPartition>) {
        self.partitions = partitions.sorted()
        numbers = Dictionary(uniqueKeysWithValues: zip(self.partitions, 0...))
    }

    /// Nil for a partition of another topic.
    func place(_ partition: TopicPartition, _ offset: Int64) -> Place? {
        numbers[partition].map { Place(partition: $0, offset: offset) }
    }

    func partition(of place: Place) -> TopicPartition { partitions[Int(place.partition)] }

    /// For people.
    func text(_ place: Place) -> String {
        let partition = partition(of: place)
        return "\(partition.topic)[\(partition.partition)] offset \(place.offset)"
    }
}
