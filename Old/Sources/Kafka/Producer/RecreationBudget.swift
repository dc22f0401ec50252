/// How often a client in fatal state may be replaced: so many times within any minute.
struct RecreationBudget {
    private static let window = Duration.seconds(60)

    private let limit: Int
    private var spent: [ContinuousClock.Instant] = []

    init(limit: Int) { self.limit = limit }

    /// Takes one replacement, if there is one left.
    mutating func take(now: ContinuousClock.Instant) -> Bool {
        spent.removeAll { now - $0 >= Self.window }
        guard spent.count < limit else { return false }
        spent.append(now)
        return true
    }
}
