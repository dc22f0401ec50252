internal import Contract

/// Offsets to be committed. One commit is under way at a time, so that a repeated earlier commit never comes after a
/// later one. Pure.
struct OffsetCommits {
    /// Offsets that wait: one per partition, the latest.
    private var waiting: [TopicPartition: Int64] = [:]
    private var isUnderWay = false
    /// Nothing is committed during a rebalance under the cooperative protocol. The reply "illegal generation" makes
    /// librdkafka before 2.10 discard the whole assignment.
    var isHeldBack = false

    /// Whether there is nothing left to say or to hear.
    var isIdle: Bool { waiting.isEmpty && !isUnderWay }
    mutating func add(_ offsets: [TopicPartition: Int64]) { waiting.merge(offsets) { _, latest in latest } }

    /// The next commit to send, if one is due; ``ended()`` follows.
    mutating func next() -> [TopicPartition: Int64]? {
        guard !isUnderWay, !isHeldBack, !waiting.isEmpty else { return nil }
        isUnderWay = true
        defer { waiting = [:] }
        return waiting
    }

    mutating func ended() { isUnderWay = false }

    /// The other partitions are another member's, whose offsets a commit would overwrite.
    mutating func drop(except granted: Set<TopicPartition>) { waiting = waiting.filter { granted.contains($0.key) } }
}
