import Ledger
import Logging
import Metrics
import Purchases

/// Brings decided submissions into the ledger, as many as there are in one transaction.
///
/// While the ledger is unavailable nothing else happens to them: they stay in the window, their offsets are not
/// committed, and the same batch is tried again until it is written.
struct Settler: Sendable {
    /// Most outcomes in one transaction.
    static let maxBatch = 500

    let ledger: any LedgerStore
    let clock: any WorkerClock
    let randomness: any Randomness
    let backoff: Backoff
    let metrics: PipelineMetrics
    let logger: Logger
    /// Told whether the ledger answers.
    let answers: Flag
    /// Where deliveries are called for; nil if no app has an inventory service.
    var deliveries: DeliveryBoard?

    /// Writes a batch, however long it takes.
    ///
    /// - Returns: what was added to the outbox, unless it must be read.
    /// - Throws: what will not pass by waiting, and `CancellationError` when the task is cancelled meanwhile. The
    ///   batch may then be written or not; its records are read again.
    func settle(_ batch: [Settled]) async throws -> [OutboxEntry]? {
        var settlements: [Settlement] = []
        settlements.reserveCapacity(batch.count)
        var quarantines: [Quarantine] = []
        for settled in batch {
            switch settled.fate {
            case .submission(let settlement):
                if let order = deliveries?.order(settlement) {
                    settlements.append(settlement.told(by: order))
                } else {
                    settlements.append(settlement)
                }
            case .quarantine(let quarantine): quarantines.append(quarantine)
            }
        }
        var failures = 0
        while true {
            do throws(LedgerError) {
                let started = clock.elapsed()
                let result = try await ledger.settle(settlements, quarantines: quarantines, now: clock.now())
                metrics.settled(
                    result.outcomes, settlements, quarantined: quarantines.count, took: clock.elapsed() - started)
                if failures > 0 { logger.info("The ledger is available again", metadata: ["tries": "\(failures)"]) }
                answers.set(true)
                deliveries?.settled(settlements, opened: result.opened)
                return result.added
            } catch {
                guard case .unavailable(let cause) = error else { throw error }
                answers.set(false)
                failures += 1
                metrics.ledgerUnavailable.increment()
                logger.warning(
                    "The ledger is unavailable; outcomes wait",
                    metadata: ["cause": "\(cause)", "waiting": "\(batch.count)", "tries": "\(failures)"])
                try await clock.sleep(for: backoff.delay(afterFailures: failures, unit: randomness.unit()))
            }
        }
    }
}
