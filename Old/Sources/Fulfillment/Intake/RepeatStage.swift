import Ledger
import Logging
import Metrics

/// Separates what is new from what has its outcome in the ledger: a replay costs one query, not a call each.
///
/// A stage of its own and not part of intake, because it waits for the ledger, and intake must not.
struct RepeatStage: Sendable {
    let parts: PipelineParts
    let ledger: any LedgerStore

    /// Runs until nothing more is read.
    func run() async throws {
        defer { parts.admitted.finish() }
        while let batch = await parts.read.take(atMost: PipelineConfiguration.maxReadCount) {
            guard let recorded = try await recorded(batch.map(\.read.key)) else { continue }
            var new: [AdmittedSubmission] = []
            var repeated: [Settled] = []
            for submission in batch {
                // One that is parked is on its way already; one that is held may have no other way than a new copy.
                if let known = recorded[submission.read.key], known.outcome != .held,
                    known.fingerprint == submission.read.fingerprint
                {
                    repeated.append(submission.settled(.answerAgain, attempts: 0))
                } else {
                    new.append(submission)
                }
            }
            parts.metrics.repeated.increment(by: repeated.count)
            parts.settled.put(repeated)
            parts.admitted.put(new)
        }
    }

    /// - Returns: nil if the ledger is away while the worker stops; the records are then read again after the restart.
    private func recorded(_ keys: [SubmissionKey]) async throws -> [SubmissionKey: RecordedSubmission]? {
        var failures = 0
        while true {
            do throws(LedgerError) {
                return try await ledger.recorded(keys)
            } catch {
                guard case .unavailable(let cause) = error else { throw error }
                failures += 1
                parts.tell(unavailable: cause, "intake waits")
                guard !parts.stopping.isRaised else { return nil }
                try await parts.pause(afterFailures: failures)
            }
        }
    }
}
