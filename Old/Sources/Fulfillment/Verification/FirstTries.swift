import Purchases
import Synchronization

/// First tries, which no task waits for, and the way to a task for those that settled nothing.
///
/// It has no limit of its own: each try is that of an admitted submission, so the ``Window`` bounds it.
final class FirstTries: Sendable {
    /// A submission whose first try settled nothing.
    struct Unsettled: Sendable {
        let claim: AdmittedSubmission
        let opened: Verifier.Case
        let state: RetryState
        /// How long to wait before the next try.
        let delay: Duration
    }

    private let unsettled = BatchChannel<Unsettled>()
    /// Tries that have not ended, and tasks that may begin some.
    private let open: Atomic<Int>
    private let abandoned = Atomic(false)

    /// - Parameter openers: tasks that begin tries; each of them ends once, like a try.
    init(openers: Int) {
        open = Atomic(openers)
    }

    /// A try begins, in a task that has not ended.
    func begin() { open.add(1, ordering: .relaxed) }

    /// Hands on what needs another try, before its first has ended.
    func put(_ submission: Unsettled) { unsettled.put([submission]) }

    /// A try, or a task that begins some, is over.
    func end() {
        if open.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { unsettled.finish() }
    }

    /// Nobody settles anything any more: what a try still hears is of no use, and is not counted.
    func abandon() { abandoned.store(true, ordering: .relaxed) }

    /// Whether they were abandoned.
    var areAbandoned: Bool { abandoned.load(ordering: .relaxed) }

    /// Waits for what needs another try; nil once all tries have ended and no more can begin, or the task is cancelled.
    func takeUnsettled() async -> [Unsettled]? { await unsettled.take(atMost: VerificationStage.batch) }
}
