/// How long partitions stood still while something waited in them. Pure.
struct PartitionStops: Sendable {
    /// One submission's time: in milliseconds since 1970.
    struct Passage: Sendable {
        let partition: Int32
        let sentAt: Int64
        let settledAt: Int64
    }

    /// One stop.
    struct Stop: Hashable, Sendable {
        let partition: Int32
        let start: Int64
        let milliseconds: Int64
    }

    /// The longest stop of each partition, the longest first. A partition stands still from its last settlement, or from
    /// the arrival of what waits in it if that is later, until the next settlement.
    static func longest(_ passages: [Passage], from: Int64 = .min, through: Int64 = .max) -> [Stop] {
        Dictionary(grouping: passages, by: \.partition).compactMap { partition, passages in
            longest(in: partition, passages, from: from, through: through)
        }.sorted { ($0.milliseconds, $1.partition) > ($1.milliseconds, $0.partition) }
    }

    private static func longest(
        in partition: Int32, _ passages: [Passage], from: Int64, through: Int64
    ) -> Stop? {
        let settled = passages.sorted { $0.settledAt < $1.settledAt }
        // Of what is settled from each place on, when the first of it was sent.
        var arrival: [Int64] = []
        var earliest = Int64.max
        for passage in settled.reversed() {
            earliest = min(earliest, passage.sentAt)
            arrival.append(earliest)
        }
        arrival.reverse()
        var last = Int64.min
        var longest: Stop?
        for (passage, waiting) in zip(settled, arrival) {
            let start = max(last, waiting)
            last = passage.settledAt
            guard passage.settledAt >= from, start <= through else { continue }
            if passage.settledAt - start > longest?.milliseconds ?? -1 {
                longest = Stop(partition: partition, start: start, milliseconds: passage.settledAt - start)
            }
        }
        return longest
    }
}
