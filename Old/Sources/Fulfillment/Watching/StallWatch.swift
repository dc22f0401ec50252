/// Notices partitions whose oldest record gets no outcome. Pure: standings in, findings out.
///
/// A partition is named when its oldest unfinished record is as old as the limit, and again each time that age has
/// doubled, so that a day costs a handful of lines. It counts as moving once that age is below half the limit. One entry
/// is kept for each partition that is named and still ours.
struct StallWatch: Sendable {
    enum Finding: Hashable, Sendable {
        /// The oldest record has had no outcome for so long.
        case stalled(PartitionStanding, since: Duration)
        /// The partition, named before, has come on.
        case moving(TopicPartition)
    }

    private let limit: Duration
    /// Partitions without progress, and until when they are not named again.
    private var quietUntil: [TopicPartition: Duration] = [:]

    init(limit: Duration) { self.limit = limit }

    /// How many partitions are without progress now.
    var stalled: Int { quietUntil.count }

    /// Time has passed.
    ///
    /// - Parameter standings: of all partitions that are ours.
    mutating func tick(_ standings: [PartitionStanding], now: Duration) -> [Finding] {
        let before = quietUntil
        quietUntil = [:]
        return standings.compactMap { judge($0, quietUntil: before[$0.partition], now) }
    }

    private mutating func judge(
        _ standing: PartitionStanding, quietUntil quiet: Duration?, _ now: Duration
    ) -> Finding? {
        let age = standing.oldest.map { now - $0.admittedAt } ?? .zero
        if age >= limit, quiet.map({ now >= $0 }) ?? true {
            quietUntil[standing.partition] = now + age
            return .stalled(standing, since: age)
        }
        guard let quiet else { return nil }
        guard age >= limit / 2 else { return .moving(standing.partition) }
        quietUntil[standing.partition] = quiet
        return nil
    }
}
