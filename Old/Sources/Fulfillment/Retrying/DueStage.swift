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
    /// Bytes of evidence under way above which nothing more is taken; one take may go beyond.
    static let maxBytes = 16 << 20

    let parts: PipelineParts
    let ledger: any PipelineLedger
    let worker: WorkerID
    let verification: VerificationStage

    private enum Turn: Sendable {
        case look
        case beat
        case report
        case ended(SubmissionKey)
    }

    /// Runs until the worker stops, then gives back what it did not finish: calls in flight have as long as those of
    /// other submissions.
    ///
    /// - Throws: what will not pass by waiting.
    func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await bringBack() }
            group.addTask { await verification.stopShareIsOver() }
            try await group.next()
            group.cancelAll()
        }
        try await orLater { try await ledger.giveBackDue(worker, now: parts.clock.now()) }
    }

    private func bringBack() async throws {
        try await withThrowingTaskGroup(of: Turn?.self) { group in
            var running = UnderWay()
            let limit = max(16, parts.configuration.maxInFlight / 4)
            after(Self.busyInterval, .look, &group)
            after(Self.beat, .beat, &group)
            after(.zero, .report, &group)
            while let turn = try await group.next() {
                switch turn {
                // The worker stops.
                case nil: break
                case .ended(let key): running.end(key)
                case .beat:
                    let keys = running.keys
                    if !keys.isEmpty {
                        try await orLater {
                            try await ledger.keepDue(worker, keys, for: Self.lease, now: parts.clock.now())
                        }
                    }
                    after(Self.beat, .beat, &group)
                case .report:
                    try await orLater { parts.metrics.waits(try await ledger.backlog(), now: parts.clock.now()) }
                    after(Self.reportInterval, .report, &group)
                case .look:
                    // While Apple is away as many are enough as a breaker needs answers: where nothing new is read, they are
                    // its probes.
                    let probes = parts.configuration.availability.breaker.answersToRamp
                    let limit = parts.apple.status.holdsDue ? min(limit, probes) : limit
                    let room = running.bytes < Self.maxBytes ? limit - running.count : 0
                    let due = try await take(min(room, Self.maxBatch))
                    // One whose lease could not be renewed comes here again while it is still being tried.
                    for submission in due where running.begin(submission) {
                        group.addTask {
                            await verification.verifyDue(submission)
                            return .ended(submission.key)
                        }
                    }
                    after(UnderWay.isFull(due) ? Self.busyInterval : Self.restInterval, .look, &group)
                }
            }
        }
    }

    private func take(_ limit: Int) async throws -> [DueSubmission] {
        guard limit > 0, parts.ledgerAnswers.isSet else { return [] }
        var due: [DueSubmission] = []
        try await orLater {
            due = try await ledger.takeDue(worker, limit: limit, for: Self.lease, now: parts.clock.now())
        }
        return due
    }

    private func orLater(_ action: () async throws -> Void) async throws {
        parts.ledgerIsHeard.set(try await parts.orLater("what is due waits", action))
    }

    private func after(_ delay: Duration, _ turn: Turn, _ group: inout ThrowingTaskGroup<Turn?, any Error>) {
        group.addTask { await verification.pause(for: delay) ? turn : nil }
    }
}
