import Scheduling
import Synchronization
import Testing
import Threading

/// Only a hang takes as long.
private let patience = Duration.seconds(120)

/// Counts, and lets tests wait for a count instead of sleeping.
final class Tally: Sendable {
    private struct State {
        var count = 0
        var numbers = 0
        var waiters: [(count: Int, wake: WakeDescriptor)] = []
    }

    private let state = Mutex(State())

    var count: Int { state.withLock { $0.count } }

    /// 1, 2, 3 and so on, apart from the count.
    func next() -> Int {
        state.withLock {
            $0.numbers += 1
            return $0.numbers
        }
    }

    func add() {
        state.withLock { state in
            state.count += 1
            for waiter in state.waiters where waiter.count <= state.count { waiter.wake.signal() }
            state.waiters.removeAll { $0.count <= state.count }
        }
    }

    /// Returns when the count is there.
    func reaches(_ count: Int, _ location: SourceLocation = #_sourceLocation) {
        do {
            let wake = try WakeDescriptor()
            let isThere = state.withLock { state in
                if state.count >= count { return true }
                state.waiters.append((count, wake))
                return false
            }
            if !isThere, !wake.wait(until: .now + patience) {
                Issue.record("\(self.count) instead of \(count)", sourceLocation: location)
            }
        } catch {
            Issue.record(error, sourceLocation: location)
        }
    }
}

/// Opens when as many stand before it as it asks for.
final class Gate: Sendable {
    private let arrived = Tally()
    private let count: Int

    init(opensAt count: Int) { self.count = count }

    /// Returns when it is open.
    func arrive() {
        arrived.add()
        arrived.reaches(count)
    }
}

/// How many were in at once at most.
final class HighWater: Sendable {
    private let state = Mutex((now: 0, most: 0))

    var most: Int { state.withLock { $0.most } }

    func enter() { state.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) } }
    func leave() { state.withLock { $0.now -= 1 } }
}
