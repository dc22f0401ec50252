/// How long partitions stood still while something waited in them. Pure.
struct PartitionStops: Sendable {
    /// One submission's way, in milliseconds since 1970.
    struct Passage: Sendable {
        let partition: Int32
        let sentAt: Int64
        let toldAt: Int64
    }

    private let passages: [Int32: [Passage]]

    init(_ passages: [Passage]) { self.passages = Dictionary(grouping: passages, by: \.partition) }

    /// The longest stop of each partition between two moments, in milliseconds. A partition stands still from its last
    /// event, or from the arrival of its waiting records if that is later, until the next event.
    func longest(from start: Int64 = .min, through end: Int64 = .max) -> [Int32: Int64] {
        passages.compactMapValues { Self.longest($0, from: start, through: end) }
    }

    private static func longest(_ passages: [Passage], from start: Int64, through end: Int64) -> Int64? {
        let told = passages.sorted { $0.toldAt < $1.toldAt }
        // For each index the moment at which the first of the submissions answered from there on was sent.
        var arrivals: [Int64] = []
        var earliest = Int64.max
        for passage in told.reversed() {
            earliest = min(earliest, passage.sentAt)
            arrivals.append(earliest)
        }
        var last = Int64.min
        var longest: Int64?
        for (passage, waiting) in zip(told, arrivals.reversed()) {
            let begin = max(last, waiting)
            last = passage.toldAt
            guard passage.toldAt >= start, begin <= end else { continue }
            longest = max(longest ?? 0, passage.toldAt - begin)
        }
        return longest
    }
}
