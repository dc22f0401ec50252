import Foundation

/// Work that waits for a connection, in the order in which it came. Bounded; threads wait at its end.
///
/// `@unchecked`: all state is touched under the condition's lock only, which the compiler cannot see.
final class WorkLine<Work: Sendable>: @unchecked Sendable {
    /// Why work was not taken.
    enum Refusal: Error, Hashable {
        case full
        case closed
    }

    private let condition = NSCondition()
    private let maxWaiting: Int
    private var waiting: [Work] = []
    private var isClosed = false

    init(maxWaiting: Int) {
        self.maxWaiting = maxWaiting
    }

    func add(_ work: Work) throws(Refusal) {
        condition.lock()
        defer { condition.unlock() }
        guard !isClosed else { throw .closed }
        guard waiting.count < maxWaiting else { throw .full }
        waiting.append(work)
        // All are woken: the one that is signalled might be resting still.
        condition.broadcast()
    }

    /// Waits for work, and not before a moment; the line's end ends both.
    ///
    /// - Returns: nil when the line is closed and empty.
    func next(notBefore rest: ContinuousClock.Instant?) -> Work? {
        condition.lock()
        defer { condition.unlock() }
        if let rest { sleep(until: rest) }
        while waiting.isEmpty {
            guard !isClosed else { return nil }
            condition.wait()
        }
        return waiting.removeFirst()
    }

    /// Takes no more work; what waits is still handed out.
    func close() {
        condition.lock()
        defer { condition.unlock() }
        isClosed = true
        condition.broadcast()
    }

    private func sleep(until end: ContinuousClock.Instant) {
        while !isClosed {
            let left = ContinuousClock.now.duration(to: end) / .seconds(1)
            guard left > 0 else { return }
            _ = condition.wait(until: Date(timeIntervalSinceNow: left))
        }
    }
}
