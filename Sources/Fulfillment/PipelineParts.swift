import Ledger
import Logging
import Purchases
import Synchronization

/// What the stages of a pipeline share. Each stage is a task; these are the only places where they meet.
struct PipelineParts: Sendable {
    let configuration: PipelineConfiguration
    let clock: any WorkerClock
    let randomness: any Randomness
    let metrics: PipelineMetrics
    let logger: Logger
    /// Raised once, when the worker is asked to stop.
    let stopping: Signal
    let window: WindowGate
    let doubts: DoubtBudget
    let progress: ProgressTracker
    /// Records whose fate is in the ledger since the start.
    let settledCount = Tally()
    /// From intake to verification.
    let admitted = BatchChannel<AdmittedSubmission>()
    /// From intake and verification to settlement.
    let settled = BatchChannel<Settled>()
    /// From settlement to publishing: something was added to the outbox.
    let added = BatchChannel<Void>()

    /// Waits before another try of something that failed so many times.
    func pause(afterFailures failures: Int) async throws(CancellationError) {
        try await clock.sleep(
            for: configuration.retry.backoff.delay(afterFailures: failures, unit: randomness.unit()))
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

/// A submission on its way to verification.
struct AdmittedSubmission: Sendable {
    let read: ReadSubmission
    let origin: Origin
    let receivedAt: Timestamp
    let ticket: Ticket
    let weight: Int

    /// The same without the evidence, for what only answers for it.
    var withoutEvidence: AdmittedSubmission {
        AdmittedSubmission(
            read: ReadSubmission(
                submission: read.submission.claim, claimant: read.claimant, fingerprint: read.fingerprint),
            origin: origin, receivedAt: receivedAt, ticket: ticket, weight: weight)
    }

    /// The submission with its fate.
    func settled(_ decision: Decision, attempts: Int) -> Settled {
        Settled(
            ticket: ticket, weight: weight,
            fate: .submission(
                Settlement(
                    claimant: read.claimant, fingerprint: read.fingerprint, origin: origin, receivedAt: receivedAt,
                    attempts: attempts, decision: decision)))
    }
}
