public import Contract

/// Offsets of one partition, first and last included; it may hold more than the origins that it covers.
public struct OriginRange: Hashable, Sendable {
    public let partition: TopicPartition
    public let offsets: ClosedRange<Int64>

    /// The least ranges, one per partition, that have all these origins.
    public static func covering(_ origins: [Origin]) -> [OriginRange] {
        var ranges: [TopicPartition: ClosedRange<Int64>] = [:]
        for origin in origins {
            let range = ranges[origin.topicPartition] ?? origin.offset...origin.offset
            ranges[origin.topicPartition] = min(range.lowerBound, origin.offset)...max(range.upperBound, origin.offset)
        }
        return ranges.map { OriginRange(partition: $0.key, offsets: $0.value) }.sorted { $0.partition < $1.partition }
    }
}
