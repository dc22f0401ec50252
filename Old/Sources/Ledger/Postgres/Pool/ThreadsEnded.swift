import Synchronization

/// Counts threads down to none; any number of tasks wait for it.
final class ThreadsEnded: Sendable {
    private struct State {
        var running: Int
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>

    init(_ count: Int) {
        state = Mutex(State(running: count))
    }

    func note() {
        let waiters = state.withLock { state in
            state.running -= 1
            guard state.running == 0 else { return [CheckedContinuation<Void, Never>]() }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    func wait() async {
        await withCheckedContinuation { waiter in
            let isOver = state.withLock { state in
                if state.running > 0 { state.waiters.append(waiter) }
                return state.running == 0
            }
            if isOver { waiter.resume() }
        }
    }
}
