import Synchronization

/// Hands elements from many tasks to one, a batch at a time, so that a hop between tasks is paid per batch.
///
/// The channel has no limit of its own: each element stands for an admitted submission, so the ``Window`` bounds it.
final class BatchChannel<Element: Sendable>: Sendable {
    private struct State {
        var elements: [Element] = []
        var waiter: CheckedContinuation<Void, Never>?
        var finished = false
    }

    private let state = Mutex(State())

    /// Adds elements; those put after ``finish()`` are refused with false.
    @discardableResult
    func put(_ elements: [Element]) -> Bool {
        let (accepted, waiter) = state.withLock { state -> (Bool, CheckedContinuation<Void, Never>?) in
            guard !state.finished else { return (false, nil) }
            state.elements.append(contentsOf: elements)
            return (true, state.waiter.take())
        }
        waiter?.resume()
        return accepted
    }

    /// No more will be put; what is in the channel is still handed out.
    func finish() {
        let waiter = state.withLock { state in
            state.finished = true
            return state.waiter.take()
        }
        waiter?.resume()
    }

    /// Waits for elements and takes the oldest; nil once the channel is finished and empty, or the task cancelled.
    ///
    /// One task at a time takes.
    func take(atMost limit: Int) async -> [Element]? {
        while true {
            let batch: [Element]? = state.withLock { state in
                guard !state.elements.isEmpty else { return state.finished ? nil : [] }
                let count = min(limit, state.elements.count)
                let batch = Array(state.elements.prefix(count))
                state.elements.removeFirst(count)
                return batch
            }
            guard let batch else { return nil }
            guard batch.isEmpty else { return batch }
            guard !Task.isCancelled else { return nil }
            await wait()
        }
    }

    private func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let ready = state.withLock { state in
                    guard state.elements.isEmpty, !state.finished, !Task.isCancelled else { return true }
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
