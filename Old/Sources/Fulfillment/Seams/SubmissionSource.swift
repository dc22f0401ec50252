public import Purchases

/// A partition of the input topic.
public struct TopicPartition: Hashable, Sendable, Comparable {
    public let topic: String
    public let partition: Int32

    /// A partition by topic and number.
    public init(topic: String, partition: Int32) {
        self.topic = topic
        self.partition = partition
    }

    /// By the number alone: there is one input topic, and its name costs more to hash than to compare.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(partition)
    }

    public static func < (left: Self, right: Self) -> Bool {
        (left.topic, left.partition) < (right.topic, right.partition)
    }
}

/// A record of the input topic, as it came.
public struct SubmissionRecord: Hashable, Sendable {
    public let partition: TopicPartition
    public let offset: Int64
    /// Nil where the broker has none.
    public let timestamp: Timestamp?
    public let key: [UInt8]?
    /// Nil for a tombstone.
    public let value: [UInt8]?
    public let headers: [EventHeader]

    /// A record with everything it came with.
    public init(
        partition: TopicPartition, offset: Int64, timestamp: Timestamp?, key: [UInt8]?, value: [UInt8]?,
        headers: [EventHeader]
    ) {
        self.partition = partition
        self.offset = offset
        self.timestamp = timestamp
        self.key = key
        self.value = value
        self.headers = headers
    }

    /// Its place, for the ledger and the quarantine topic.
    public var origin: Origin {
        Origin(topic: partition.topic, partition: partition.partition, offset: offset)
    }

    /// What it costs to keep in memory, roughly.
    var weight: Int {
        headers.reduce((value?.count ?? 0) + (key?.count ?? 0)) { $0 + $1.name.utf8.count + ($1.value?.count ?? 0) }
    }
}

/// What a source tells the pipeline.
public enum SourceEvent: Sendable {
    case records([SubmissionRecord])
    /// These partitions are ours from now on; their records follow from the committed offsets. The epoch grows with
    /// each assignment.
    case assigned([TopicPartition], epoch: UInt64)
    /// These partitions go. They are given up once `complete` was called with the offsets to commit
    /// (next offset to read), which are ignored when the partitions are lost already.
    case revoking([TopicPartition], lost: Bool, complete: @Sendable ([TopicPartition: Int64]) -> Void)
}

/// How far a partition has come.
public struct Watermark: Hashable, Sendable {
    /// Next offset to read: everything before it has its outcome in the ledger.
    public let offset: Int64
    /// The assignment that its records were read under.
    public let epoch: UInt64

    /// An offset and the assignment that it belongs to.
    public init(offset: Int64, epoch: UInt64) {
        self.offset = offset
        self.epoch = epoch
    }
}

/// Why a source cannot go on.
public enum SourceError: Error, Hashable, Sendable {
    /// For good: stop the worker and let it be started again.
    case fatal(String)
}

extension SourceError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .fatal(let cause): "the Kafka consumer cannot go on: \(cause)"
        }
    }
}

/// The input topic. Nothing comes that was not asked for.
public protocol SubmissionSource: Sendable {
    /// The next thing that happened; nil once the source is closed or the task is cancelled.
    ///
    /// - Parameter maxRecords: 0 asks for changes of the assignment only.
    func next(maxRecords: Int, maxBytes: Int) async throws(SourceError) -> SourceEvent?

    /// Notes offsets for the source's own periodic commit. Partitions that are gone, or are ours anew under another
    /// epoch, are skipped: their offset may be another worker's by now. One that is lower than before is committed too.
    func store(_ offsets: [TopicPartition: Watermark]) async throws(SourceError)

    /// Stops reading records until ``resume()``, whatever is assigned meanwhile, and stays a member of the group: changes
    /// of the assignment still come. Records that were on their way may come too.
    func pause() async throws(SourceError)

    /// Takes ``pause()`` back; no record is lost or skipped.
    func resume() async throws(SourceError)

    /// Numbers that grow for as long as the source works, each at least every ten seconds. One that stands still for long
    /// means that only a restart helps. Asked at any time, answers at once.
    var signsOfLife: [UInt64] { get }

    /// Commits what was stored, leaves the group and closes, within a limit.
    func close(within limit: Duration) async
}
