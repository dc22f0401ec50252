import Synchronization

/// The ``Window`` as the tasks of the pipeline share it: intake waits here for room, settlement makes it.
final class WindowGate: Sendable {
    private struct State {
        var window: Window
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state: Mutex<State>

    init(_ window: Window) {
        state = Mutex(State(window: window))
    }

    var room: (count: Int, bytes: Int)? { state.withLock { $0.window.room } }

    /// Submissions and bytes held now.
    var held: (count: Int, bytes: Int) { state.withLock { ($0.window.count, $0.window.bytes) } }

    func admit(bytes: Int) {
        state.withLock { $0.window.admit(bytes: bytes) }
    }

    func release(bytes: Int) {
        let waiter = state.withLock { state in
            state.window.release(bytes: bytes) ? state.waiter.take() : nil
        }
        waiter?.resume()
    }

    /// Lets no more in than so many, for as long as they would only wait; nil lets in what there is room for.
    func lower(to ceiling: Int?) {
        let waiter = state.withLock { state in
            state.window.lower(to: ceiling) ? state.waiter.take() : nil
        }
        waiter?.resume()
    }

    /// Returns when there is room worth reading for, or the task is cancelled. One task at a time waits.
    func waitForRoom() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let ready = state.withLock { state in
                    guard state.window.room == nil, !Task.isCancelled else { return true }
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
