import Ledger
import Purchases
import Synchronization

/// From settlement to publishing: what was added to the outbox, so that it need not be read back. Holds a little; what does
/// not fit is left to the ledger, which has it anyway.
final class Handover: Sendable {
    /// Most entries, and most bytes of their values, that wait in memory.
    static let maxEntries = 2000
    static let maxBytes = 8 << 20

    /// What was put since the last look.
    struct News: Sendable {
        fileprivate(set) var entries: [OutboxEntry] = []
        /// Something else was added, and must be read.
        fileprivate(set) var mustRead = false
        /// Nothing will be added any more.
        fileprivate(set) var isFinished = false

        fileprivate var isSomething: Bool { !entries.isEmpty || mustRead || isFinished }
    }

    private struct State {
        var news = News()
        var bytes = 0
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    /// Hands over what a settlement added; nil stands for something that must be read.
    func put(_ added: [OutboxEntry]?) {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            if let added, !state.news.mustRead {
                state.bytes += added.reduce(0) { $0 + ($1.event.value?.count ?? 0) }
                state.news.entries += added
            } else {
                state.news.mustRead = true
            }
            if state.news.entries.count > Self.maxEntries || state.bytes > Self.maxBytes {
                state.news.entries = []
                state.bytes = 0
                state.news.mustRead = true
            }
            return state.waiter.take()
        }
        waiter?.resume()
    }

    /// Nothing more will be put.
    func finish() {
        let waiter = state.withLock { state in
            state.news.isFinished = true
            return state.waiter.take()
        }
        waiter?.resume()
    }

    /// What there is, without waiting.
    func take() -> News {
        state.withLock { state in
            defer {
                state.news = News(isFinished: state.news.isFinished)
                state.bytes = 0
            }
            return state.news
        }
    }

    /// Returns when there is something, or the task is cancelled. One task at a time waits.
    func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let ready = state.withLock { state in
                    guard !state.news.isSomething, !Task.isCancelled else { return true }
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
