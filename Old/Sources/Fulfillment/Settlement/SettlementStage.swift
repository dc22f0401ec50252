import Logging

/// Brings fates into the ledger in batches, and lets offsets follow.
struct SettlementStage: Sendable {
    let parts: PipelineParts
    let settler: Settler
    let source: any SubmissionSource

    /// Runs until nothing more is to be settled.
    func run() async throws {
        var pace = SettlementPace()
        while let batch = await parts.settled.take(atMost: Settler.maxBatch) {
            pace.begins(with: batch.count, at: parts.clock.elapsed())
            parts.added.put(try await settler.settle(batch))
            parts.settledCount.add(batch.count { $0.ticket != nil })
            let offsets = parts.progress.withProgress { progress in
                for case let ticket? in batch.map(\.ticket) { progress.complete(ticket) }
                return progress.takeMoved()
            }
            for settled in batch where settled.ticket != nil { parts.window.release(bytes: settled.weight) }
            parts.reportHeld()
            if !offsets.isEmpty { try await source.store(offsets) }
            guard !parts.stopping.isRaised,
                let pause = pace.pause(
                    waiting: parts.settled.count, held: parts.window.held.count, at: parts.clock.elapsed())
            else { continue }
            try await parts.clock.sleep(for: pause)
        }
    }
}
