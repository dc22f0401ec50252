import Synchronization

/// Lets a fixed number of tasks do something at once; the others wait in the order they came.
///
/// Who waits is an admitted submission, so the ``Window`` bounds the queue.
final class Slots: Sendable {
    private struct State {
        var free: Int
        var waiters: [UInt64: CheckedContinuation<Bool, Never>] = [:]
        /// Oldest first; may name tasks that were cancelled since.
        var order: [UInt64] = []
        var orderStart = 0
        var nextID: UInt64 = 0

        mutating func nextWaiter() -> CheckedContinuation<Bool, Never>? {
            while orderStart < order.count {
                let id = order[orderStart]
                orderStart += 1
                if orderStart > 1024, orderStart * 2 > order.count {
                    order.removeFirst(orderStart)
                    orderStart = 0
                }
                if let waiter = waiters.removeValue(forKey: id) { return waiter }
            }
            return nil
        }
    }

    private let state: Mutex<State>

    init(_ count: Int) {
        state = Mutex(State(free: count))
    }

    /// Runs an operation once a slot is free; nil if the task was cancelled while it waited.
    func withSlot<Result: Sendable>(_ operation: () async -> Result) async -> Result? {
        guard await acquire() else { return nil }
        let result = await operation()
        release()
        return result
    }

    private func acquire() async -> Bool {
        let id: UInt64? = state.withLock { state in
            guard state.free == 0 else {
                state.free -= 1
                return nil
            }
            state.nextID += 1
            return state.nextID
        }
        guard let id else { return true }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let ready: Bool? = state.withLock { state in
                    if Task.isCancelled { return false }
                    if state.free > 0 {
                        state.free -= 1
                        return true
                    }
                    state.waiters[id] = continuation
                    state.order.append(id)
                    return nil
                }
                if let ready { continuation.resume(returning: ready) }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: id) }?.resume(returning: false)
        }
    }

    private func release() {
        let waiter = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            if let waiter = state.nextWaiter() { return waiter }
            state.free += 1
            return nil
        }
        waiter?.resume(returning: true)
    }
}
