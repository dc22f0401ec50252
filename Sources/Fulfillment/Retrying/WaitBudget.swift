import Synchronization

/// Counts the submissions that wait for one kind of reason, and their bytes, against limits of both.
///
/// The limits are shares of the ``Window``: whatever one kind of trouble holds, the rest stays for purchases that have
/// none. Both are counted, because either fills the window.
final class WaitBudget: Sendable {
    private let maxCount: Int
    private let maxBytes: Int
    private let count = Atomic<Int>(0)
    private let bytes = Atomic<Int>(0)

    init(maxCount: Int, maxBytes: Int) {
        self.maxCount = maxCount
        self.maxBytes = maxBytes
    }

    /// Submissions that wait now.
    var held: Int { count.load(ordering: .relaxed) }

    /// Whether as many wait as may.
    var isCrowded: Bool { held >= maxCount || bytes.load(ordering: .relaxed) >= maxBytes }

    func enter(weight: Int) {
        count.add(1, ordering: .relaxed)
        bytes.add(weight, ordering: .relaxed)
    }

    func leave(weight: Int) {
        count.subtract(1, ordering: .relaxed)
        bytes.subtract(weight, ordering: .relaxed)
    }
}

/// One submission's place in the budgets, given up when it is let go of.
struct BudgetPlace: ~Copyable {
    private let weight: Int
    private var budget: WaitBudget?

    init(weight: Int) {
        self.weight = weight
    }

    deinit { budget?.leave(weight: weight) }

    /// Takes a place in another budget, or in none.
    mutating func move(to next: WaitBudget?) {
        guard next !== budget else { return }
        budget?.leave(weight: weight)
        next?.enter(weight: weight)
        budget = next
    }
}
