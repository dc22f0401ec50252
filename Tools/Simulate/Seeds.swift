import Glibc
import Processing
import Simulation
import Synchronization

/// A range of seeds, shared out among the machine's cores.
final class Seeds: Sendable {
    /// Broken seeds that are shown; more say nothing new.
    static let maxShown = 20

    private let first: UInt64
    private let count: UInt64
    private let most: Int
    private let next: Atomic<UInt64>
    private let broken = Mutex<[(seed: UInt64, violations: [Violation])]>([])
    private let transitions = Mutex(TransitionCounts(isCounting: true))

    /// - Parameter most: Broken seeds after which no more are run.
    init(first: UInt64, count: UInt64, most: Int) {
        self.most = most
        self.first = first
        self.count = count
        next = Atomic(first)
    }

    /// Runs all of them, and says how it goes every ten seconds.
    ///
    /// - Returns: Whether every promise was kept.
    func run() async -> Bool {
        let start = ContinuousClock.now
        let cores = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        await withTaskGroup { group in
            for number in 0..<cores { group.addTask { self.work(reports: number == 0) } }
        }
        let broken = broken.withLock { $0.sorted { $0.seed < $1.seed } }
        for (seed, violations) in broken.prefix(Self.maxShown) {
            for violation in violations.prefix(3) { print("seed \(seed): \(violation)") }
        }
        let seconds = (ContinuousClock.now - start).components.seconds
        print("\(count) seeds in \(seconds) s on \(cores) cores, \(broken.count) broken")
        guard count >= Coverage.enoughSeeds else { return broken.isEmpty }
        let coverage = Coverage(transitions.withLock { $0 })
        print(coverage)
        return broken.isEmpty && coverage.isComplete
    }

    private func work(reports: Bool) {
        var reportAt = ContinuousClock.now + .seconds(10)
        var taken = TransitionCounts(isCounting: true)
        defer { transitions.withLock { $0.add(taken) } }
        while true {
            let seed = next.wrappingAdd(1, ordering: .relaxed).oldValue
            guard seed < first + count else { return }
            let violations = Simulation.run(seed: seed, counting: &taken)
            if !violations.isEmpty {
                let isEnough = broken.withLock { list in
                    list.append((seed, violations))
                    return list.count >= most
                }
                if isEnough { next.store(first + count, ordering: .relaxed) }
            }
            if reports, .now > reportAt {
                reportAt = .now + .seconds(10)
                print("seed \(seed), \(broken.withLock { $0.count }) broken")
                fflush(nil)
            }
        }
    }
}
