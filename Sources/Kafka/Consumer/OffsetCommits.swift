/// Offsets on their way to the group: one commit at a time, so that an earlier one that is tried again can never come
/// after a later one. Pure.
struct OffsetCommits {
    /// Offsets that wait: one per partition, the latest.
    private(set) var waiting: [KafkaPartition: Int64] = [:]
    /// The commit that is to be answered.
    private(set) var underWay: [KafkaPartition: Int64]?
    /// Nothing is committed while the group deals its partitions out anew under the cooperative protocol: an answer
    /// "illegal generation" makes librdkafka before 2.10 throw the whole assignment away.
    var isHeldBack = false

    /// Whether there is nothing left to say or to hear.
    var isIdle: Bool { waiting.isEmpty && underWay == nil }

    mutating func add(_ offsets: [KafkaPartition: Int64]) {
        waiting.merge(offsets) { _, latest in latest }
    }

    /// The next commit to send, if one is due; ``answered()`` follows.
    mutating func next() -> [KafkaPartition: Int64]? {
        guard underWay == nil, !isHeldBack, !waiting.isEmpty else { return nil }
        underWay = waiting
        waiting = [:]
        return underWay
    }

    /// The commit under way has its answer.
    /// - Returns: its offsets.
    mutating func answered() -> [KafkaPartition: Int64] {
        defer { underWay = nil }
        return underWay ?? [:]
    }

    /// Partitions are another member's: a commit for them would overwrite its own.
    /// - Returns: offsets that were waiting and are not committed any more.
    mutating func drop(except granted: Set<KafkaPartition>) -> [KafkaPartition: Int64] {
        let dropped = waiting.filter { !granted.contains($0.key) }
        waiting = waiting.filter { granted.contains($0.key) }
        return dropped
    }
}
