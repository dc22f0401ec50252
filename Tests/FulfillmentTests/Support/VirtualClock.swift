import Fulfillment
import Purchases
import Synchronization

/// Time that stands still while anything moves, and then goes on to the next moment that somebody waits for: hours in
/// seconds, without a wait in the test.
final class VirtualClock: WorkerClock {
    /// So many turns of everybody else, and so long, without a look at the clock mean that nothing moves.
    private static let calmTurns = 40
    private static let calm = Duration.microseconds(300)

    private struct Sleeper {
        let id: UInt64
        let until: Duration
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var elapsed = Duration.zero
        var sleepers: [Sleeper] = []
        var nextID: UInt64 = 0
        /// Looks at the clock, and waits for it.
        var activity = 0
        /// What moves without looking at the clock.
        var busy = 0
    }

    private let state = Mutex(State())

    func now() -> Timestamp { Timestamp(milliseconds: 1_795_255_200_000).advanced(by: elapsed()) }

    func elapsed() -> Duration {
        state.withLock { state in
            state.activity += 1
            return state.elapsed
        }
    }

    func sleep(for duration: Duration) async throws(CancellationError) {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        let isOver = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let ready = state.withLock { state -> Bool? in
                    state.activity += 1
                    if Task.isCancelled { return false }
                    if duration <= .zero { return true }
                    state.sleepers.append(
                        Sleeper(id: id, until: state.elapsed + duration, continuation: continuation))
                    return nil
                }
                if let ready { continuation.resume(returning: ready) }
            }
        } onCancel: {
            let sleeper = state.withLock { state -> Sleeper? in
                state.activity += 1
                return state.sleepers.firstIndex { $0.id == id }.map { state.sleepers.remove(at: $0) }
            }
            sleeper?.continuation.resume(returning: false)
        }
        if !isOver { throw CancellationError() }
    }

    /// Time stands still until this is left again.
    func enter() { state.withLock { $0.busy += 1 } }

    func leave() {
        state.withLock { state in
            state.busy -= 1
            state.activity += 1
        }
    }

    /// Waits until nothing moves, then lets time go on to the next moment that somebody waits for.
    func step() async {
        var turns = 0
        var seen = -1
        var since = ContinuousClock.now
        while turns < Self.calmTurns || since.duration(to: .now) < Self.calm, !Task.isCancelled {
            await Task.yield()
            let (activity, isBusy) = state.withLock { ($0.activity, $0.busy > 0) }
            turns += 1
            guard activity != seen || isBusy else { continue }
            (turns, seen, since) = (0, activity, .now)
        }
        let due = state.withLock { state -> [Sleeper] in
            guard let next = state.sleepers.map(\.until).min() else { return [] }
            state.elapsed = max(state.elapsed, next)
            defer { state.sleepers.removeAll { $0.until <= state.elapsed } }
            return state.sleepers.filter { $0.until <= state.elapsed }.sorted { ($0.until, $0.id) < ($1.until, $1.id) }
        }
        for sleeper in due { sleeper.continuation.resume(returning: true) }
    }
}
