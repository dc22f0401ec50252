import Ledger
import Logging
import Metrics
import Purchases

/// Takes events from the ledger's outbox to their topics, at least once each, in ledger order for each key, whenever this
/// worker has the relay.
struct Publisher: Sendable {
    /// How long the relay stays a worker's that says nothing: so long do events wait after it was killed.
    static let lease: Duration = .seconds(10)
    /// How long at most an event added by another worker, a withheld one, or a free relay waits to be noticed.
    static let sweepInterval: Duration = .milliseconds(250)
    /// Longest time between an acknowledgement and its note in the ledger: after a kill these are published once more.
    static let noteInterval: Duration = .milliseconds(50)
    /// Most acknowledged entries that wait for their note.
    static let maxUntold = 5000
    /// How often the relay is kept while nothing else is noted.
    static let renewalInterval = lease / 3
    /// How long the relay is kept for an offer without an answer. Every record has its answer long before; a sink that gives
    /// none is broken, and another worker's may not be.
    static let maxOffer: Duration = .seconds(150)

    let ledger: any LedgerStore
    let sink: any EventSink
    let worker: WorkerID
    let clock: any WorkerClock
    let randomness: any Randomness
    let backoff: Backoff
    let metrics: PipelineMetrics
    let logger: Logger

    /// Publishes until nothing will be added any more and everything is published, or the task is cancelled.
    ///
    /// - Throws: what will not pass by waiting.
    func run(_ handover: Handover) async throws {
        var failures = 0
        while !Task.isCancelled {
            do throws(LedgerError) {
                guard try await relayAll(handover) else { return }
                failures = 0
            } catch {
                guard case .unavailable(let cause) = error else { throw error }
                failures += 1
                logger.warning("The ledger is unavailable; events wait", metadata: ["cause": "\(cause)"])
                try await clock.sleep(for: backoff.delay(afterFailures: failures, unit: randomness.unit()))
            }
        }
    }

    /// Takes the relay if it is free, and publishes for as long as it is ours.
    ///
    /// - Returns: false when there is nothing more to do for good.
    private func relayAll(_ handover: Handover) async throws(LedgerError) -> Bool {
        guard let turn = try await ledger.takeRelay(worker, for: Self.lease, now: clock.now()) else {
            // Whoever has the relay publishes what this worker settled.
            let isFinished = handover.take().isFinished
            if !isFinished { await rest(handover, atMost: Self.sweepInterval) }
            return !isFinished && !Task.isCancelled
        }
        var relay = OutboxRelay(turn)
        metrics.relays(relay.withheldCount, through: turn.publishedThrough)
        // Of whoever has the relay next.
        defer { metrics.withheld.record(0) }
        let isLost = try await publish(&relay, handover)
        guard !isLost else { return true }
        // Cancelled or not: another worker need not wait for the lease to end.
        try await ledger.leaveRelay(worker)
        return false
    }

    /// - Returns: whether the relay was lost to another worker.
    private func publish(_ relay: inout OutboxRelay, _ handover: Handover) async throws(LedgerError) -> Bool {
        var noteDue = clock.elapsed() + Self.noteInterval
        var renewalDue = clock.elapsed() + Self.renewalInterval
        var sweepDue = clock.elapsed() + Self.sweepInterval
        while !Task.isCancelled {
            let news = handover.take()
            if news.mustRead { relay.added(nil) }
            relay.added(news.entries)
            if news.isFinished { relay.finish() }
            let now = clock.elapsed()
            if now >= sweepDue {
                relay.sweep()
                sweepDue = now + Self.sweepInterval
            }
            let isNoteDue = relay.untold > 0 && (now >= noteDue || relay.untold >= Self.maxUntold)
            if isNoteDue || now >= renewalDue {
                guard try await tell(&relay) else { return true }
                noteDue = now + Self.noteInterval
                renewalDue = now + Self.renewalInterval
            }
            switch relay.next() {
            case .offer(let entries): await offer(entries, &relay)
            case .read(let position): relay.read(try await ledger.outbox(after: position, limit: OutboxRelay.maxBatch))
            case .pause(let failures): await pause(failures, relay.withheldCount)
            case .rest:
                if news.isFinished { return try await !tell(&relay) }
                await rest(handover, atMost: (relay.untold > 0 ? min(noteDue, sweepDue) : sweepDue) - now)
            }
        }
        // What was acknowledged is worth a note even now; without it, it would only be published again.
        return try await !tell(&relay)
    }

    private func tell(_ relay: inout OutboxRelay) async throws(LedgerError) -> Bool {
        let note = relay.takeNote()
        guard try await ledger.published(note, by: worker, for: Self.lease, now: clock.now()) else {
            logger.notice("Another worker publishes now; this one was silent for too long")
            return false
        }
        metrics.relays(relay.withheldCount, through: note.through)
        return true
    }

    private func offer(_ entries: [OutboxEntry], _ relay: inout OutboxRelay) async {
        let acknowledged = await publish(entries.map(\.event), keeping: relay.renewal)
        metrics.published(entries, acknowledged)
        if acknowledged.contains(false) { metrics.publishFailures.increment() }
        relay.offered(entries, acknowledged: acknowledged)
        metrics.withheld.record(relay.withheldCount)
    }

    /// Offers events, and keeps the relay meanwhile: a partition without a leader answers after the lease, and a worker that has
    /// lost the relay by then may note nothing of what it was answered, so all would offer the same for ever.
    private func publish(_ events: [Event], keeping renewal: RelayNote) async -> [Bool] {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await keep(renewal) }
            let acknowledged = await sink.publish(events)
            // A renewal that is under way is waited for: no two notes are on their way at once.
            group.cancelAll()
            return acknowledged
        }
    }

    /// Keeps the relay until the task is cancelled. Nothing is given up here: the next note finds out that the relay is lost.
    private func keep(_ renewal: RelayNote) async {
        let end = clock.elapsed() + Self.maxOffer
        while clock.elapsed() < end {
            do {
                try await clock.sleep(for: Self.renewalInterval)
                guard try await ledger.published(renewal, by: worker, for: Self.lease, now: clock.now()) else { return }
            } catch LedgerError.unavailable(let cause) {
                logger.warning("The ledger is unavailable; the relay may be lost", metadata: ["cause": "\(cause)"])
            } catch {
                // The offer has its answer, or the ledger says the same to the next note.
                return
            }
        }
    }

    private func pause(_ failures: Int, _ withheld: Int) async {
        logger.warning(
            "Events were not acknowledged and are published again",
            metadata: ["failures": "\(failures)", "withheld": "\(withheld)"])
        // A cancelled sleep ends the loop around, which looks for it.
        do { try await clock.sleep(for: backoff.delay(afterFailures: failures, unit: randomness.unit())) } catch {}
    }

    /// Waits until something is added, or a time is over.
    private func rest(_ handover: Handover, atMost limit: Duration) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await handover.wait() }
            group.addTask {
                // A cancelled sleep is the normal case: something was added first.
                do { try await clock.sleep(for: limit) } catch {}
            }
            await group.next()
            group.cancelAll()
        }
    }
}
