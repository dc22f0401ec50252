import Synchronization

/// Hands elements from many tasks to a few, a batch at a time, so that a hop between tasks is paid per batch.
///
/// The channel has no limit of its own: each element stands for an admitted submission, so the ``Window`` bounds it.
final class BatchChannel<Element: Sendable>: Sendable {
    private struct State {
        var elements: [Element] = []
        /// As many as there are tasks that take; any of them may be woken for nothing.
        var waiters: [CheckedContinuation<Void, Never>] = []
        var finished = false
    }

    private let state = Mutex(State())

    /// Adds elements; those put after ``finish()`` are refused with false.
    @discardableResult
    func put(_ elements: [Element]) -> Bool {
        guard !elements.isEmpty else { return true }
        let (accepted, waiter) = state.withLock { state -> (Bool, CheckedContinuation<Void, Never>?) in
            guard !state.finished else { return (false, nil) }
            state.elements.append(contentsOf: elements)
            return (true, state.waiters.popLast())
        }
        waiter?.resume()
        return accepted
    }

    /// Elements that nobody took yet.
    var count: Int { state.withLock { $0.elements.count } }

    /// No more will be put; what is in the channel is still handed out.
    func finish() {
        let waiters = state.withLock { state in
            state.finished = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Waits for elements and takes the oldest; nil once the channel is finished and empty, or the task cancelled.
    func take(atMost limit: Int) async -> [Element]? {
        while true {
            let (batch, next) = state.withLock { state -> ([Element]?, CheckedContinuation<Void, Never>?) in
                guard !state.elements.isEmpty else { return (state.finished ? nil : [], nil) }
                let batch = Self.takeFirst(limit, of: &state.elements)
                // What is left is for another taker, if one waits.
                return (batch, state.elements.isEmpty ? nil : state.waiters.popLast())
            }
            next?.resume()
            guard let batch else { return nil }
            guard batch.isEmpty else { return batch }
            guard !Task.isCancelled else { return nil }
            await wait()
        }
    }

    /// The usual case, that all fit, copies nothing.
    private static func takeFirst(_ limit: Int, of elements: inout [Element]) -> [Element] {
        guard elements.count > limit else {
            defer { elements = [] }
            return elements
        }
        let batch = Array(elements.prefix(limit))
        elements.removeFirst(limit)
        return batch
    }

    private func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let ready = state.withLock { state in
                    guard state.elements.isEmpty, !state.finished, !Task.isCancelled else { return true }
                    state.waiters.append(continuation)
                    return false
                }
                if ready { continuation.resume() }
            }
        } onCancel: {
            // Nobody knows which of the waiting is the cancelled one; the others look and wait again.
            let waiters = state.withLock { state in
                defer { state.waiters = [] }
                return state.waiters
            }
            for waiter in waiters { waiter.resume() }
        }
    }
}
