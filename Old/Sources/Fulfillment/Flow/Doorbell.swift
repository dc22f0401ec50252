import Synchronization

/// Wakes one task that waits for something to do. A ring that nobody hears is kept, once.
final class Doorbell: Sendable {
    private struct State {
        var rang = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    /// There is something to do.
    func ring() {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard let waiter = state.waiter.take() else {
                state.rang = true
                return nil
            }
            return waiter
        }
        waiter?.resume()
    }

    /// Returns when it rings, or rang since the last wait, or the task is cancelled. One task at a time waits.
    func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let ready = state.withLock { state in
                    guard !state.rang, !Task.isCancelled else {
                        state.rang = false
                        return true
                    }
                    state.waiter = continuation
                    return false
                }
                if ready { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiter.take() }?.resume()
        }
    }
}
