import LedgerConformance
import PostgresTesting
import Purchases
import Testing

@testable import Ledger

/// Several workers on one database, settling the same things at once.
@Suite struct PostgresConcurrencyTests {
    @Test(arguments: [1, 2] as [UInt64])
    func overlappingBatchesOfManyWorkersGrantEachPurchaseOnce(seed: UInt64) async throws {
        let place = try await TemporaryPostgres()
        var added: [OutboxEntry] = []
        try await withThrowingTaskGroup(of: [OutboxEntry].self) { group in
            for worker in 0..<4 as Range<UInt64> {
                group.addTask { try await Self.work(on: place, seed: seed * 100 + worker, batches: 30) }
            }
            for try await entries in group { added += entries }
        }
        let ledger = try await place.open()
        while try await ledger.deliveryCounts().open > 0 { added += try await Self.deliver("last", on: ledger) }
        let entries = try await ledger.outbox(after: 0, limit: 100_000)
        #expect(entries.map(\.sequence) == (1...Int64(entries.count)).map { $0 }, "no gap and no order but one")
        let inOutbox = Dictionary(uniqueKeysWithValues: entries.map { ($0.sequence, $0.event) })
        #expect(added.allSatisfy { inOutbox[$0.sequence] == $0.event }, "what was told as added is there")
        let originals = try await place.query(
            "SELECT count(*), count(DISTINCT event_id) FROM outbox WHERE copy_of IS NULL")
        #expect(Set(originals.split(separator: "|")).count == 1, "each event once, all else are copies")
        // A grant without its event, an event without its grant, a failure without its one event.
        let orphans = try await place.query(
            """
            SELECT (SELECT count(*) FROM grants g LEFT JOIN outbox o USING (grant_key) WHERE o.sequence IS NULL)
                + (SELECT count(*) FROM outbox o LEFT JOIN grants g USING (grant_key)
                    WHERE o.kind = 'granted' AND g.sequence IS NULL)
                + (SELECT count(*) FROM submissions s WHERE outcome IN ('granted', 'failed') AND NOT EXISTS (
                    SELECT FROM outbox o WHERE position(uuid_send(o.event_id) IN s.event_ids) > 0))
            """)
        #expect(orphans == "0")
        for row in try await ledger.submissions(SubmissionFilter(outcome: .failed), before: nil, limit: 1000) {
            let event = FailedEvent.id(bundleID: row.claimant.bundleID, submissionID: row.claimant.submissionID)
            #expect(row.eventIDs == [event])
        }
        #expect(try await ledger.counts().grants > 50)
        await ledger.close()
    }

    @Test func twoWorkersThatGrantTheSamePurchaseAtOnceAnswerBoth() async throws {
        let place = try await TemporaryPostgres()
        let ledgers = [try await place.open(), try await place.open()]
        for round in 0..<20 {
            let purchase = Samples.purchase(TransactionID("\(round)"))
            let outcomes = try await withThrowingTaskGroup(of: SettledOutcome.self) { group in
                for (index, ledger) in ledgers.enumerated() {
                    let settlement = Samples.grant(SubmissionID("s\(round)-\(index)"), purchase)
                    group.addTask {
                        try await ledger.settle([settlement], quarantines: [], now: Samples.noon).outcomes[0]
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let event = Samples.event(purchase)
            #expect(outcomes.contains(.granted(events: [event], created: 1)))
            #expect(outcomes.contains(.granted(events: [event], created: 0)))
        }
        #expect(try await ledgers[0].counts().grants == 20)
        for ledger in ledgers { await ledger.close() }
    }

    @Test func oneOfManyWorkersHasTheRelay() async throws {
        let ledger = try await TemporaryPostgres().open()
        let winners = try await withThrowingTaskGroup(of: Bool.self) { group in
            for worker in 0..<8 {
                group.addTask {
                    try await ledger.takeRelay(WorkerID("w\(worker)"), for: .seconds(1_000_000), now: Samples.noon)
                        != nil
                }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(winners == 1)
        await ledger.close()
    }

    /// Has whatever is open delivered, whoever has it.
    ///
    /// - Returns: what the ledger told was added.
    private static func deliver(_ worker: WorkerID, on ledger: PostgresLedger) async throws(LedgerError)
        -> [OutboxEntry]
    {
        let shares = LedgerWorkload.bundles.map { DeliveryShare(bundleID: $0, limit: 20) }
        let later = Samples.noon.advanced(by: .seconds(3600))
        let taken = try await ledger.takeDeliveries(worker, shares, for: .zero, now: later)
        let reports = taken.map {
            DeliveryReport(eventID: $0.event.id, attempts: 1, history: AttemptHistory(), end: .done)
        }
        return try await ledger.report(reports, worker, now: later) ?? []
    }

    /// One worker's batches, each settled until it is, with deliveries in between.
    ///
    /// - Returns: what the ledger told was added.
    private static func work(on place: TemporaryPostgres, seed: UInt64, batches: Int) async throws -> [OutboxEntry] {
        let ledger = try await place.open()
        var workload = LedgerWorkload(seed: seed)
        var added: [OutboxEntry] = []
        for _ in 0..<batches {
            let batch = workload.batch()
            while true {
                do throws(LedgerError) {
                    let result = try await ledger.settle(batch, quarantines: [], now: Samples.noon)
                    #expect(result.outcomes.count == batch.count)
                    let entries = result.added ?? []
                    #expect(zip(entries, entries.dropFirst()).allSatisfy { $0.sequence + 1 == $1.sequence })
                    added += entries
                    added += try await deliver("worker", on: ledger)
                    break
                } catch {
                    guard case .unavailable = error else { throw error }
                }
            }
        }
        await ledger.close()
        return added
    }
}
