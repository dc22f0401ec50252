import Fulfillment
import Purchases

/// What the topics no longer hold, and so cannot show.
struct Retention: Sendable {
    /// How far the clocks of workers and brokers may be apart, and how long a record may be on its way.
    static let tolerance: Duration = .seconds(60)

    private let bounds: AuditBounds
    /// Time of the oldest record of each partition that lost some.
    private var oldest: [TopicPartition: Timestamp] = [:]

    init(_ bounds: AuditBounds) {
        self.bounds = bounds
    }

    /// Whether the partition's first records are gone.
    func lostSome(_ partition: TopicPartition) -> Bool {
        (bounds.offsets[partition]?.lowerBound ?? 0) > 0
    }

    /// Records come in the order of their partitions.
    mutating func saw(_ record: TopicRecord) {
        guard lostSome(record.partition), oldest[record.partition] == nil else { return }
        oldest[record.partition] = record.timestamp
    }

    /// Whether a topic may have held a record of an event and lost it again: some partition of it, and nobody can tell
    /// whether it was this event's, lost records that were as young as the event.
    func mayHaveLost(_ event: Event, in topic: String) -> Bool {
        let truncated = bounds.offsets.keys.filter { $0.topic == topic && lostSome($0) }
        guard !truncated.isEmpty else { return false }
        guard let time = Self.time(of: event) else { return true }
        return truncated.contains { partition in
            // Nothing left of a partition, or no times: whatever it held may be gone.
            guard let oldest = oldest[partition] else { return true }
            return time <= oldest.advanced(by: Self.tolerance)
        }
    }

    /// When that happened which an event tells; it was published after.
    private static func time(of event: Event) -> Timestamp? {
        let name = event.kind == .quarantined ? QuarantinedEvent.timeHeader : CloudEvent.timeHeader
        guard let value = event.headers.last(where: { $0.name == name })?.value else { return nil }
        return Timestamp(rfc3339: String(decoding: value, as: UTF8.self))
    }
}
