internal import Scheduling

/// Bounds how often a client in fatal state is replaced: so many times within any minute.
struct RecreationBudget {
    private static let span = Duration.seconds(60)

    private let limit: Int
    private var spent: [Instant] = []

    init(limit: Int) { self.limit = limit }

    /// Takes one replacement, if there is one left.
    mutating func take(now: Instant) -> Bool {
        spent.removeAll { now - $0 >= Self.span }
        guard spent.count < limit else { return false }
        spent.append(now)
        return true
    }
}
