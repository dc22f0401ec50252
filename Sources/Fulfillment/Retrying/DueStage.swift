import Ledger
import Logging
import Metrics
import Purchases

/// Brings back what waits in the ledger: takes submissions that are due, has each verified once more, and lets them go with
/// a fate or another due time.
struct DueStage: Sendable {
    /// How long a worker that is heard of no more keeps what it took.
    static let lease: Duration = .seconds(30)
    /// How often the lease is renewed.
    static let beat: Duration = .seconds(10)
    /// How often the ledger is asked for what is due: at most, and while there was as much as wanted.
    static let restInterval: Duration = .seconds(1)
    static let busyInterval: Duration = .milliseconds(50)
    /// How often what waits is counted for the metrics.
    static let reportInterval: Duration = .seconds(15)
    /// Most submissions taken at once.
    static let maxBatch = 64

    let parts: PipelineParts
    let ledger: any PipelineLedger
    let worker: WorkerID
    let verification: VerificationStage

    private enum Turn: Sendable {
        case look
        case beat
        case report
        case ended
    }

    /// Runs until the worker stops, then gives back what it did not finish.
    ///
    /// - Throws: what will not pass by waiting.
    func run() async throws {
        try await withThrowingTaskGroup(of: Turn?.self) { group in
            var running = 0
            let limit = max(16, parts.configuration.maxInFlight / 4)
            after(Self.busyInterval, .look, &group)
            after(Self.beat, .beat, &group)
            after(.zero, .report, &group)
            while let turn = try await group.next() {
                switch turn {
                // The worker stops.
                case nil: break
                case .ended: running -= 1
                case .beat:
                    if running > 0 { try await orLater { try await ledger.keepDue(worker, for: Self.lease, now: parts.clock.now()) } }
                    after(Self.beat, .beat, &group)
                case .report:
                    try await orLater { parts.metrics.waits(try await ledger.waitingCounts(), now: parts.clock.now()) }
                    after(Self.reportInterval, .report, &group)
                case .look:
                    let due = try await take(min(limit - running, Self.maxBatch))
                    running += due.count
                    for submission in due {
                        group.addTask {
                            await verification.verifyDue(submission)
                            return .ended
                        }
                    }
                    after(due.count == Self.maxBatch ? Self.busyInterval : Self.restInterval, .look, &group)
                }
            }
        }
        try await orLater { try await ledger.giveBackDue(worker, now: parts.clock.now()) }
    }

    private func take(_ limit: Int) async throws -> [DueSubmission] {
        // While Apple or the ledger is away there is nothing to be gained from more.
        guard limit > 0, !parts.apple.status.holdsIntake, parts.ledgerAnswers.isSet else { return [] }
        var due: [DueSubmission] = []
        try await orLater {
            due = try await ledger.takeDue(worker, limit: limit, for: Self.lease, now: parts.clock.now())
        }
        return due
    }

    /// What cannot be done while the ledger is away is done at the next turn.
    private func orLater(_ action: () async throws -> Void) async throws {
        do {
            try await action()
        } catch LedgerError.unavailable(let cause) {
            parts.metrics.ledgerUnavailable.increment()
            parts.logger.warning("The ledger is unavailable; what is due waits", metadata: ["cause": "\(cause)"])
        }
    }

    private func after(_ delay: Duration, _ turn: Turn, _ group: inout ThrowingTaskGroup<Turn?, any Error>) {
        group.addTask { await verification.pause(for: delay) ? turn : nil }
    }
}
