public import Contract

/// The number of one take-over of a partition: drawn at random and never used again, so that a write under an old one writes
/// nothing, also in a ledger that was set back.
public struct Generation: RawRepresentable, Hashable, Sendable {
    public let rawValue: Int64

    public init(rawValue: Int64) { self.rawValue = rawValue }
}

/// Which worker writes for a partition, and since which take-over.
public struct Ownership: Hashable, Sendable {
    public let partition: TopicPartition
    public let generation: Generation

    public init(partition: TopicPartition, generation: Generation) {
        self.partition = partition
        self.generation = generation
    }
}

/// A worker's wish to write for a partition.
public struct TakeOver: Hashable, Sendable {
    public let ownership: Ownership
    /// The worker's name, for people.
    public let owner: String
    /// The group's committed offset for the partition; nil if it has none.
    public let committed: Int64?

    public init(ownership: Ownership, owner: String, committed: Int64?) {
        self.ownership = ownership
        self.owner = owner
        self.committed = committed
    }
}

/// The ledger's answer to a ``TakeOver``.
public enum TakeOverResult: Hashable, Sendable {
    /// The partition is the worker's.
    ///
    /// - `next`: the offset that the ledger has noted as the first one not complete; nil for a partition that is new to the ledger.
    /// - `highestOrigin`: the highest offset that a row of `grants`, `answers` or `retries` came from; nil if there is none. Up
    ///   to there each record may be a redelivery.
    case taken(next: Int64?, highestOrigin: Int64?)
    /// The group has a committed offset, the ledger has no row for the partition, and no operator has accepted this ledger:
    /// it is empty or another one. Nothing was written.
    case forgotten(ledger: String)
}

/// How far a partition is complete, for the second's note in `partitions`.
public struct OffsetNote: Hashable, Sendable {
    public let ownership: Ownership
    /// The first offset that is not complete.
    public let next: Int64

    public init(ownership: Ownership, next: Int64) {
        self.ownership = ownership
        self.next = next
    }
}
