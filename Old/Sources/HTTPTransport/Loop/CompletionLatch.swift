import Synchronization

/// Opens once and stays open; any number of tasks wait for it.
final class CompletionLatch: Sendable {
    private enum State {
        /// -> `open`.
        case shut([CheckedContinuation<Void, Never>])
        case open
    }

    private let state = Mutex(State.shut([]))

    func open() {
        let waiters = state.withLock { state in
            guard case .shut(let waiters) = state else { return [CheckedContinuation<Void, Never>]() }
            state = .open
            return waiters
        }
        for waiter in waiters {
            waiter.resume()
        }
    }

    /// Returns when it is open. Cancelling the task does not end the wait.
    func wait() async {
        await withCheckedContinuation { waiter in
            let isOpen = state.withLock { state in
                guard case .shut(let waiters) = state else { return true }
                state = .shut(waiters + [waiter])
                return false
            }
            if isOpen { waiter.resume() }
        }
    }
}
