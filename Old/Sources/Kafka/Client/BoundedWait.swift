import Dispatch
import Synchronization

/// Waits for an answer that a thread of its own is to give, and no longer than a limit: the thread may hang in
/// librdkafka, and its caller must not hang with it.
enum BoundedWait {
    /// Beyond the limit, for the thread to notice that its own deadline is over and to say so.
    static let grace = Duration.seconds(2)

    /// Returns once `begin`'s argument was called, or when `limit` and ``grace`` are over.
    static func run(limit: Duration, _ begin: (@escaping @Sendable () -> Void) -> Void) async {
        await withCheckedContinuation { continuation in
            let answer = FirstAnswer(continuation)
            DispatchQueue.global().asyncAfter(deadline: .now() + (limit + grace) / .seconds(1)) { answer.give() }
            begin { answer.give() }
        }
    }

    /// Resumes a continuation once, whoever comes first.
    private final class FirstAnswer: Sendable {
        private let waiting: Mutex<CheckedContinuation<Void, Never>?>

        init(_ continuation: CheckedContinuation<Void, Never>) { waiting = Mutex(continuation) }

        func give() {
            let continuation = waiting.withLock { waiting in
                defer { waiting = nil }
                return waiting
            }
            continuation?.resume()
        }
    }
}
