import Logging

/// Brings fates into the ledger in batches, and lets offsets follow.
struct SettlementStage: Sendable {
    let parts: PipelineParts
    let settler: Settler
    let source: any SubmissionSource

    /// Runs until nothing more is to be settled.
    func run() async throws {
        while let batch = await parts.settled.take(atMost: Settler.maxBatch) {
            parts.added.put(try await settler.settle(batch))
            parts.settledCount.add(batch.count)
            let offsets = parts.progress.withProgress { progress in
                for settled in batch { progress.complete(settled.ticket) }
                return progress.takeMoved()
            }
            for settled in batch { parts.window.release(bytes: settled.weight) }
            parts.reportHeld()
            if !offsets.isEmpty { try await source.store(offsets) }
        }
    }
}
