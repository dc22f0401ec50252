public import Contract

/// The number of one take-over of a partition, drawn at random and never used again. So a write under an old generation
/// writes nothing, even in a ledger that was set back.
public struct Generation: RawRepresentable, Hashable, Sendable {
    public let rawValue: Int64

    public init(rawValue: Int64) { self.rawValue = rawValue }
}

/// Which worker writes for a partition: the one that knows the generation of the last take-over.
public struct PartitionOwnership: Hashable, Sendable {
    public let partition: TopicPartition
    public let generation: Generation

    public init(partition: TopicPartition, generation: Generation) {
        self.partition = partition
        self.generation = generation
    }
}

/// A worker's wish to write for a partition.
public struct TakeOver: Hashable, Sendable {
    public let ownership: PartitionOwnership
    public let owner: String
    /// The group's committed offset for the partition; nil if it has none.
    public let committed: Int64?

    public init(ownership: PartitionOwnership, owner: String, committed: Int64?) {
        self.ownership = ownership
        self.owner = owner
        self.committed = committed
    }
}

/// The ledger's answer to a ``TakeOver``.
public enum TakeOverResult: Hashable, Sendable {
    /// The partition is the worker's.
    case taken(PartitionStart)
    /// The group has a committed offset, but the ledger has no row for the partition, and no operator has accepted this
    /// ledger. It is empty or another one. Nothing was written for the partition.
    case forgotten(ledger: String)
}

public struct PartitionStart: Hashable, Sendable {
    /// The offset that the ledger has noted as the first one not complete; nil where nothing was noted yet. A partition
    /// that an operator's acceptance made known begins with the group's committed offset.
    public let next: Int64?
    /// The highest offset that a row of `grants`, `answers` or `retries` came from; nil if there is none. Up to there
    /// each record may be a redelivery.
    public let highestOrigin: Int64?
    /// Take-overs since ``next`` last changed, this one included. From the third on, records are read one by one.
    public let starts: Int
    /// The record whose check had begun, and not ended, when the owner before ended; nil if there is none.
    public let suspect: CheckSuspect?

    public init(next: Int64?, highestOrigin: Int64?, starts: Int, suspect: CheckSuspect?) {
        self.next = next
        self.highestOrigin = highestOrigin
        self.starts = starts
        self.suspect = suspect
    }
}

/// How far a partition is complete, for the second's note in `partitions`.
public struct OffsetNote: Hashable, Sendable {
    public let ownership: PartitionOwnership
    /// The first offset that is not complete. Nil if no record has come since the take-over. The offset then stays, and
    /// its count of starts is reset, because no check of a record has ended a worker there.
    public let next: Int64?

    public init(ownership: PartitionOwnership, next: Int64?) {
        self.ownership = ownership
        self.next = next
    }
}

/// A record that may end each worker which checks it.
public struct CheckSuspect: Hashable, Sendable {
    public let offset: Int64
    /// Take-overs that found its check begun and not ended, none of its checks having ended in between.
    public let ends: Int

    public init(offset: Int64, ends: Int) {
        self.offset = offset
        self.ends = ends
    }
}

/// The record of a partition that is being checked, where records are read one by one.
public struct CheckMark: Hashable, Sendable {
    public let ownership: PartitionOwnership
    /// The record whose check has ended: it is no suspect any more.
    public let ended: Int64?
    /// The record whose check begins; nil if none does.
    public let begins: Int64?

    public init(ownership: PartitionOwnership, ended: Int64?, begins: Int64?) {
        self.ownership = ownership
        self.ended = ended
        self.begins = begins
    }
}
