import Ledger
import Logging
import Metrics
import Purchases

/// Takes events from the ledger's outbox to their topics, at least once each, in ledger order.
struct Publisher: Sendable {
    /// Most events in one batch.
    static let maxBatch = 500
    /// How long at most an event written by somebody else (or left from before) waits to be noticed.
    static let sweepInterval: Duration = .seconds(1)

    let ledger: any LedgerStore
    let sink: any EventSink
    let clock: any WorkerClock
    let randomness: any Randomness
    let backoff: Backoff
    let metrics: PipelineMetrics
    let logger: Logger

    /// Publishes whenever `added` tells of new events, until it is finished and the outbox is empty, or the task is
    /// cancelled.
    ///
    /// - Throws: what will not pass by waiting.
    func run(added: BatchChannel<Void>) async throws {
        var cursor = OutboxCursor()
        while !Task.isCancelled {
            switch cursor.next() {
            case .read(let position):
                do throws(LedgerError) {
                    try await publish(after: position, &cursor)
                } catch {
                    guard case .unavailable(let cause) = error else { throw error }
                    logger.warning("The ledger is unavailable; events wait", metadata: ["cause": "\(cause)"])
                    try await clock.sleep(for: backoff.delay(afterFailures: 3, unit: randomness.unit()))
                }
            case .restAfterFailures(let passes):
                metrics.publishFailures.increment()
                logger.warning(
                    "Events were not acknowledged and are published again", metadata: ["passes": "\(passes)"])
                try await clock.sleep(for: backoff.delay(afterFailures: passes, unit: randomness.unit()))
            case .rest:
                guard await waitForMore(added) else { return }
            }
        }
    }

    private func publish(after position: Int64, _ cursor: inout OutboxCursor) async throws(LedgerError) {
        let entries = try await ledger.unpublished(after: position, limit: Self.maxBatch)
        guard !entries.isEmpty else { return cursor.offered([], acknowledged: 0, limit: Self.maxBatch) }
        let acknowledged = await sink.publish(entries.map(\.event))
        let delivered = zip(entries, acknowledged).filter(\.1).map(\.0)
        if !delivered.isEmpty {
            try await ledger.markPublished(delivered, now: clock.now())
            metrics.published(delivered)
        }
        cursor.offered(entries, acknowledged: delivered.count, limit: Self.maxBatch)
    }

    /// - Returns: false once nothing will be added any more.
    private func waitForMore(_ added: BatchChannel<Void>) async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            group.addTask { await added.take(atMost: .max) != nil || Task.isCancelled }
            group.addTask {
                // A cancelled sleep is the normal case: something was added first.
                do { try await clock.sleep(for: Self.sweepInterval) } catch { return true }
                return true
            }
            let more = await group.next() ?? false
            group.cancelAll()
            return more
        }
    }
}
