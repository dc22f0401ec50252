internal import Contract
internal import Scheduling

/// Offsets to be committed. One commit is under way at a time, so that a repeated earlier commit never comes after a
/// later one. A failed one waits again with the later ones: a partition without new records would else keep an old
/// offset. Pure.
struct OffsetCommits {
    /// The pause after a failed commit.
    static let pause = Duration.seconds(1)

    /// Offsets that wait: one per partition, the latest.
    private var waiting: [TopicPartition: Int64] = [:]
    /// Offsets of the commit that was sent and has no reply; nil while none is under way.
    private var underWay: [TopicPartition: Int64]?
    /// No commit is sent before it.
    private var restsUntil: Instant?
    /// Nothing is committed during a rebalance under the cooperative protocol. The reply "illegal generation" makes
    /// librdkafka before 2.10 discard the whole assignment.
    var isHeldBack = false

    /// Whether there is nothing left to say or to hear.
    var isIdle: Bool { waiting.isEmpty && underWay == nil }
    mutating func add(_ offsets: [TopicPartition: Int64]) { waiting.merge(offsets) { _, latest in latest } }

    /// The next commit to send, if one is due; ``ended(isFailed:at:)`` follows.
    mutating func next(at now: Instant) -> [TopicPartition: Int64]? {
        guard underWay == nil, !isHeldBack, !waiting.isEmpty, restsUntil.map({ $0 <= now }) ?? true else { return nil }
        underWay = waiting
        waiting = [:]
        return underWay
    }

    /// The commit under way has its reply.
    mutating func ended(isFailed: Bool, at now: Instant) {
        restsUntil = isFailed ? now + Self.pause : nil
        if isFailed { waiting.merge(underWay ?? [:]) { latest, _ in latest } }
        underWay = nil
    }

    /// The other partitions are another member's, whose offsets a commit would overwrite.
    mutating func drop(except granted: Set<TopicPartition>) {
        waiting = waiting.filter { granted.contains($0.key) }
        underWay = underWay?.filter { granted.contains($0.key) }
    }
}
