import Dispatch
import Fulfillment
import Purchases
import Synchronization

/// Time that stands still while anything moves, and then goes on to the next moment that somebody waits for: hours in
/// seconds, without a wait in the test.
///
/// What moves is counted, not guessed: tasks whose time this is run on ``executor``, and whoever works for them on another
/// thread stands between ``enter()`` and ``leave()``.
final class VirtualClock: WorkerClock {
    private struct Sleeper {
        let id: UInt64
        let until: Duration
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var elapsed = Duration.zero
        var sleepers: [Sleeper] = []
        var nextID: UInt64 = 0
    }

    private let state = Mutex(State())
    private let moving = Moving()

    private let stepped: SteppedExecutor

    init() { stepped = SteppedExecutor(moving) }

    /// Where everything runs that lives in this time.
    var executor: any TaskExecutor { stepped }

    func now() -> Timestamp { Timestamp(milliseconds: 1_795_255_200_000).advanced(by: elapsed()) }

    func elapsed() -> Duration { state.withLock { $0.elapsed } }

    func sleep(for duration: Duration) async throws(CancellationError) {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        let isOver = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let ready = state.withLock { state -> Bool? in
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
                state.sleepers.firstIndex { $0.id == id }.map { state.sleepers.remove(at: $0) }
            }
            sleeper?.continuation.resume(returning: false)
        }
        if !isOver { throw CancellationError() }
    }

    /// Time stands still until this is left again.
    func enter() { moving.add() }

    func leave() { moving.remove() }

    /// Waits until nothing moves, then lets time go on to the next moment that somebody waits for.
    ///
    /// Called from outside of ``executor``: who waits there for its end moves himself.
    func step() async {
        await stillness()
        let due = state.withLock { state -> [Sleeper] in
            guard let next = state.sleepers.map(\.until).min() else { return [] }
            state.elapsed = max(state.elapsed, next)
            defer { state.sleepers.removeAll { $0.until <= state.elapsed } }
            return state.sleepers.filter { $0.until <= state.elapsed }.sorted { ($0.until, $0.id) < ($1.until, $1.id) }
        }
        // All of them before the first goes on, so that they go on in this order.
        stepped.run { for sleeper in due { sleeper.continuation.resume(returning: true) } }
    }

    /// Waits until nothing moves.
    func stillness() async {
        // Where nobody waits for a moment, whoever steps again and again would keep his thread from all others.
        await Task.yield()
        await moving.end()
    }
}

/// How much moves at the moment, and who waits for the end of it.
private final class Moving: Sendable {
    private let state = Mutex((count: 0, waiter: CheckedContinuation<Void, Never>?.none))

    func add() { state.withLock { $0.count += 1 } }

    func remove() {
        state.withLock { state in
            state.count -= 1
            return state.count == 0 ? state.waiter.take() : nil
        }?.resume()
    }

    /// Returns when nothing moves; for one waiter at a time.
    func end() async {
        await withCheckedContinuation { continuation in
            let isStill = state.withLock { state in
                precondition(state.waiter == nil)
                if state.count > 0 { state.waiter = continuation }
                return state.count == 0
            }
            if isStill { continuation.resume() }
        }
    }
}

/// Runs tasks one after another, and counts what has not run yet.
private final class SteppedExecutor: TaskExecutor {
    private let moving: Moving
    private let queue = DispatchQueue(label: "virtual-clock")

    init(_ moving: Moving) { self.moving = moving }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        run { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    /// Runs something after what was enqueued before.
    func run(_ body: @escaping @Sendable () -> Void) {
        moving.add()
        queue.async { [moving] in
            body()
            moving.remove()
        }
    }
}
