import Ledger
import Logging
import Metrics
import Purchases
import Synchronization

/// What the stages of a pipeline share. Each stage is a task; these are the only places where they meet.
///
/// A class, because thousands of tasks have it: a reference is handed on instead of two dozen.
final class PipelineParts: Sendable {
    let configuration: PipelineConfiguration
    let clock: any WorkerClock
    let randomness: any Randomness
    let metrics: PipelineMetrics
    let logger: Logger
    /// Raised once, when the worker is asked to stop.
    let stopping: Signal
    let window: WindowGate
    let alerts = AlertThrottle()
    /// Whether the ledger took what it was last given.
    let ledgerAnswers: Flag
    /// Whether the ledger was heard of when it was last asked for what is due, which is now and then also when nothing is settled.
    let ledgerIsHeard = Flag(true)
    /// Every call to Apple asks here first.
    let apple: AppleAvailability
    let progress: ProgressTracker
    /// Records whose fate is in the ledger since the start.
    let settledCount = Tally()
    /// Whether the source shows signs of life.
    let sourceIsAlive = Flag(true)
    /// From intake to the look into the ledger.
    let read = BatchChannel<AdmittedSubmission>()
    /// From there to verification.
    let admitted = BatchChannel<AdmittedSubmission>()
    /// From intake and verification to settlement.
    let settled = BatchChannel<Settled>()
    /// From settlement to publishing: what was added to the outbox.
    let added = Handover()

    init(
        configuration: PipelineConfiguration, clock: any WorkerClock, randomness: any Randomness,
        metrics: PipelineMetrics, logger: Logger, stopping: Signal, window: WindowGate, ledgerAnswers: Flag,
        apple: AppleAvailability, progress: ProgressTracker
    ) {
        self.configuration = configuration
        self.clock = clock
        self.randomness = randomness
        self.metrics = metrics
        self.logger = logger
        self.stopping = stopping
        self.window = window
        self.ledgerAnswers = ledgerAnswers
        self.apple = apple
        self.progress = progress
    }

    /// Brings the gauges up to date. Called where submissions come in and where they go out, and every few seconds: during an
    /// outage calls end though nothing comes in or goes out.
    func reportHeld() {
        let held = window.held
        metrics.holds(held.count, bytes: held.bytes, of: configuration)
        apple.report()
    }

    /// - Returns: false when the worker stops or the task is cancelled before the time is over.
    func pause(for delay: Duration) async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                do { try await self.clock.sleep(for: delay) } catch { return false }
                return true
            }
            group.addTask {
                await self.stopping.wait()
                return false
            }
            let passed = await group.next() ?? false
            group.cancelAll()
            return passed
        }
    }

    /// Does what is done at the next turn if the ledger is away.
    ///
    /// - Parameter waiting: what waits until then, for the log.
    /// - Returns: whether it was done.
    /// - Throws: what will not pass by waiting.
    func orLater(_ waiting: String, _ action: () async throws -> Void) async throws -> Bool {
        do {
            try await action()
            return true
        } catch LedgerError.unavailable(let cause) {
            tell(unavailable: cause, waiting)
            return false
        }
    }

    /// Counts and logs that the ledger takes nothing now.
    func tell(unavailable cause: String, _ waiting: String) {
        metrics.ledgerUnavailable.increment()
        logger.warning("The ledger is unavailable; \(waiting)", metadata: ["cause": "\(cause)"])
    }

    /// Waits before the ledger is asked once more that failed so many times.
    func pause(afterFailures failures: Int) async throws(CancellationError) {
        try await clock.sleep(for: Backoff.ledger.delay(afterFailures: failures, unit: randomness.unit()))
    }
}

/// ``Progress`` as the stages share it.
final class ProgressTracker: Sendable {
    private let progress = Mutex(Progress())

    func withProgress<Result: Sendable>(_ body: (inout sending Progress) -> Result) -> Result {
        progress.withLock { body(&$0) }
    }
}

/// A number that only grows, shared between tasks.
final class Tally: Sendable {
    private let count = Atomic<Int>(0)

    var value: Int { count.load(ordering: .relaxed) }

    func add(_ more: Int) { count.add(more, ordering: .relaxed) }
}

/// Something that is true or not, shared between tasks; one of them sets it.
final class Flag: Sendable {
    private let state: Atomic<Bool>
    private let onChange: @Sendable (Bool) -> Void

    /// - Parameter onChange: called by who sets it, when that changes it.
    init(_ value: Bool, onChange: @escaping @Sendable (Bool) -> Void = { _ in }) {
        state = Atomic(value)
        self.onChange = onChange
    }

    var isSet: Bool { state.load(ordering: .relaxed) }

    func set(_ value: Bool) {
        if state.exchange(value, ordering: .relaxed) != value { onChange(value) }
    }
}

/// A submission on its way to verification.
///
/// A class, because it goes through several lists: a reference is handed on instead of two dozen texts, each counted.
final class AdmittedSubmission: Sendable {
    let read: ReadSubmission
    let origin: Origin
    let receivedAt: Timestamp
    /// Nil for one that came from the ledger.
    let ticket: Ticket?
    let weight: Int

    init(read: ReadSubmission, origin: Origin, receivedAt: Timestamp, ticket: Ticket?, weight: Int) {
        self.read = read
        self.origin = origin
        self.receivedAt = receivedAt
        self.ticket = ticket
        self.weight = weight
    }

    /// The same without the evidence, for what only answers for it.
    var withoutEvidence: AdmittedSubmission {
        AdmittedSubmission(
            read: ReadSubmission(
                submission: read.submission.claim, claimant: read.claimant, fingerprint: read.fingerprint),
            origin: origin, receivedAt: receivedAt, ticket: ticket, weight: weight)
    }

    /// The submission with its fate.
    func settled(_ decision: Decision, attempts: Int, history: AttemptHistory = AttemptHistory()) -> Settled {
        Settled(
            ticket: ticket, weight: weight,
            fate: .submission(
                Settlement(
                    claimant: read.claimant, fingerprint: read.fingerprint, origin: origin, receivedAt: receivedAt,
                    attempts: attempts, history: history, decision: decision)))
    }
}
