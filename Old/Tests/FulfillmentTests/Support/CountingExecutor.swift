import Synchronization

/// Runs tasks where all tasks run, and counts their steps.
final class CountingExecutor: TaskExecutor {
    private let count = Atomic(0)

    var steps: Int { count.load(ordering: .relaxed) }

    func enqueue(_ job: consuming ExecutorJob) {
        count.add(1, ordering: .relaxed)
        globalConcurrentExecutor.enqueue(UnownedJob(job))
    }
}
