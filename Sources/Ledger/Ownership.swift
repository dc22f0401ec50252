public import Contract
import Cryptography

/// The number of one take-over of a partition, drawn at random and never used again. So a write under an old generation
/// writes nothing, even in a ledger that was set back.
public struct Generation: RawRepresentable, Hashable, Sendable {
    public let rawValue: Int64

    public init(rawValue: Int64) { self.rawValue = rawValue }
}

/// The right of a worker to write for a partition: it knows the generation of the last take-over.
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
    /// The group has a committed offset for this or another partition of the topic.
    public let isTopicCommitted: Bool

    /// - Parameter isTopicCommitted: True wherever the partition has one itself.
    public init(ownership: PartitionOwnership, owner: String, committed: Int64?, isTopicCommitted: Bool = false) {
        self.ownership = ownership
        self.owner = owner
        self.committed = committed
        self.isTopicCommitted = isTopicCommitted || committed != nil
    }
}

/// The ledger's answer to a ``TakeOver``.
public enum TakeOverResult: Hashable, Sendable {
    /// The partition is the worker's.
    case taken(PartitionStart)
    /// The group has offsets of the topic, and the ledger has no checkpoint of its partitions: it is an empty or a
    /// wrong ledger. A partition without an offset is refused, too, because a checkpoint of it would make the topic
    /// known. The refusal stands until an operator accepts the ledger, whatever checkpoints it has of other partitions.
    case forgotten(ledger: String)
}

/// The place where a partition's new owner begins. It is read within the take-over, so no write of a former owner comes
/// after it.
public struct PartitionStart: Hashable, Sendable {
    /// The ledger's checkpoint, the first offset that is not complete; nil where there is none yet. A partition
    /// that an operator's acceptance made known has the group's committed offset of that time.
    public let next: Int64?
    /// An operator has passed the records before this offset, and the group's offset is not there yet: it is put there
    /// before anything is read. Nil once it is.
    public let passed: Int64?
    /// The highest offset that a row of `grants`, `answers` or `retries` came from; nil if there is none. Up to there
    /// each record may be a redelivery.
    public let highestOrigin: Int64?
    /// Take-overs since ``next`` last changed, this one included. From the third on, records are read one by one.
    public let starts: Int
    /// The record whose check had begun and not ended when the former owner ended; nil if there is none.
    public let suspect: CheckSuspect?

    public init(
        next: Int64?, passed: Int64? = nil, highestOrigin: Int64?, starts: Int, suspect: CheckSuspect?
    ) {
        self.next = next
        self.passed = passed
        self.highestOrigin = highestOrigin
        self.starts = starts
        self.suspect = suspect
    }
}

/// Offsets of one partition that an operator passes, because no worker can read their records.
public struct PassedOffsets: Hashable, Sendable {
    /// Most offsets in one call: each is a row of the outbox.
    public static let most = 10_000

    public let partition: TopicPartition
    public let offsets: ClosedRange<Int64>

    /// Nil for more offsets than ``most``, and for such as no record can have.
    public init?(partition: TopicPartition, offsets: ClosedRange<Int64>) {
        guard offsets.lowerBound >= 0, offsets.upperBound < .max, offsets.upperBound - offsets.lowerBound < Self.most
        else { return nil }
        self.partition = partition
        self.offsets = offsets
    }

    /// The first offset that is read again.
    public var next: Int64 { offsets.upperBound + 1 }

    /// The stubs that the quarantine topic gets, one for each offset: the record's value is not known.
    public func stubs(_ note: OperatorNote) -> [QuarantineStub] {
        offsets.map { offset in
            QuarantineStub(
                origin: Origin(topic: partition.topic, partition: partition.partition, offset: offset),
                reason: "passed by an operator: \(note.reason)", timestamp: note.at, digest: SHA256.hash([]), size: 0)
        }
    }

    /// The note as `operator_actions` keeps it, with the offsets.
    public func named(_ note: OperatorNote) -> OperatorNote {
        note.about("\(partition), offsets \(offsets.lowerBound) to \(offsets.upperBound)")
    }
}

/// The end of an operator's wish to pass offsets.
public enum PassResult: Hashable, Sendable {
    case passed
    /// The partition's first incomplete offset is not the first of these; nil where there is none. Nothing was changed.
    case standsAt(Int64?)
}

/// A row of `partitions` as people see it.
public struct PartitionRow: Hashable, Sendable {
    public let partition: TopicPartition
    /// The checkpoint; nil where there is none.
    public let next: Int64?
    /// The worker that took it over last; nil after an operator passed offsets, until a worker takes it over.
    public let owner: String?
    /// Take-overs since ``next`` last changed.
    public let starts: Int

    public init(partition: TopicPartition, next: Int64?, owner: String?, starts: Int) {
        self.partition = partition
        self.next = next
        self.owner = owner
        self.starts = starts
    }
}

/// Up to where each partition is complete, at one moment.
public struct Checkpoints: Sendable {
    private let next: [TopicPartition: Int64]

    public init(_ rows: [PartitionRow]) {
        next = Dictionary(rows.map { ($0.partition, $0.next ?? 0) }) { first, _ in first }
    }

    /// Whether workers are not through with a record yet: the event of its outcome may be on its way.
    /// - Parameter unknown: The answer for records of partitions that the ledger does not know.
    public func isUnpassed(_ origin: Origin, unknown: Bool = false) -> Bool {
        next[origin.topicPartition].map { origin.offset >= $0 } ?? unknown
    }
}

/// How far a partition is complete, for the second's checkpoint in `partitions`.
public struct OffsetCheckpoint: Hashable, Sendable {
    public let ownership: PartitionOwnership
    /// The first offset that is not complete. Nil if no record has come since the take-over. The offset then stays. Its
    /// count of starts and its suspect go, because no record is there that could end workers.
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
