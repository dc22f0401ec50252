import Synchronization

/// Runs tasks on the loop's thread, between its turns.
///
/// It has no limit of its own: each job is a step of a task that its maker started.
final class LoopExecutor: TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        /// The loop ended: it takes no jobs any more.
        var isOver = false
    }

    private let state = Mutex(State())
    private let poller: Poller

    init(poller: Poller) { self.poller = poller }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isTaken = state.withLock { state in
            guard !state.isOver else { return false }
            state.jobs.append(job)
            return true
        }
        guard isTaken else { return Self.hand(on: job) }
        poller.wake()
    }

    /// For the loop: runs the steps that are due. Those that they make due are left for its next turn, so that connections
    /// are served between them.
    func runDue() {
        let due = state.withLock { state in
            defer { state.jobs = [] }
            return state.jobs
        }
        for job in due { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    /// For the loop, at its end: what is due and what comes later runs on the threads that all tasks share, so that no task is
    /// left where it is.
    func end() {
        let due = state.withLock { state in
            state.isOver = true
            defer { state.jobs = [] }
            return state.jobs
        }
        for job in due { Self.hand(on: job) }
    }

    private static func hand(on job: UnownedJob) { globalConcurrentExecutor.enqueue(job) }
}
