import Synchronization

/// Counts the submissions that wait for a doubt to be settled, against a limit.
final class DoubtBudget: Sendable {
    private let limit: Int
    private let count = Atomic<Int>(0)

    init(limit: Int) {
        self.limit = limit
    }

    /// Submissions in doubt now.
    var held: Int { count.load(ordering: .relaxed) }

    /// Whether there are more than may be.
    var isCrowded: Bool { held >= limit }

    func enter() { count.add(1, ordering: .relaxed) }

    func leave() { count.subtract(1, ordering: .relaxed) }
}
