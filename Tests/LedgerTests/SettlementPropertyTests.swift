import Ledger
import LedgerConformance
import Purchases
import Testing

/// Thousands of colliding settlements against a model that knows nothing of the ledger's code.
@Suite struct SettlementPropertyTests {
    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func aLedgerDoesWhatTheNaiveOneDoes(seed: UInt64) async throws {
        let place = try TemporaryLedger()
        let ledger = try await place.open()
        let (model, events) = try await settle(seed: seed, on: ledger, settlements: 2000)
        try await ledger.close()
        let reopened = try await place.open(migrate: false)
        try await check(reopened, model)
        #expect(try await written(reopened) == events)
        try await reopened.close()
    }

    @Test(arguments: [5, 6] as [UInt64])
    func aLedgerOnPostgresDoesWhatTheNaiveOneDoes(seed: UInt64) async throws {
        let place = try await TemporaryPostgres()
        let ledger = try await place.open()
        let (model, events) = try await settle(seed: seed, on: ledger, settlements: 1000)
        await ledger.close()
        let reopened = try await place.open()
        try await check(reopened, model)
        #expect(try await written(reopened) == events)
        await reopened.close()
    }

    private typealias AnyLedger = ConformanceRule.AnyLedger

    private func settle(
        seed: UInt64, on ledger: AnyLedger, settlements: Int
    ) async throws -> (NaiveLedger, [EventID: Event]) {
        var workload = SettlementWorkload(seed: seed)
        var model = NaiveLedger()
        var events: [EventID: Event] = [:]
        var settled = 0
        var time = Samples.noon
        while settled < settlements {
            let batch = workload.batch()
            // A commit whose result was lost is settled again, at a later time.
            for _ in 0..<(workload.isSettledTwice() ? 2 : 1) {
                time = time.advanced(by: .seconds(1))
                let outcomes = try await ledger.settle(batch, quarantines: [], now: time).outcomes
                #expect(outcomes == batch.map { model.settle($0) })
                settled += batch.count
            }
            try await events.merge(written(ledger)) { old, new in
                #expect(old == new, "an event's bytes changed")
                return old
            }
        }
        try await check(ledger, model)
        return (model, events)
    }

    private func written(_ ledger: AnyLedger) async throws -> [EventID: Event] {
        var events: [EventID: Event] = [:]
        var last: Int64 = 0
        while true {
            let page = try await ledger.events(after: last, limit: 1000)
            guard let end = page.last else { return events }
            last = end.sequence
            for row in page { events[row.event.id] = row.event }
        }
    }

    private func check(_ ledger: AnyLedger, _ model: NaiveLedger) async throws {
        let grants = try await ledger.grants(GrantFilter(), before: nil, limit: 1000)
        #expect(grants.count == model.grants.count)
        for grant in grants {
            let owner = NaiveLedger.Grant(user: grant.claimant.userID, order: grant.claimant.orderID)
            #expect(model.grants[grant.key] == owner, "the first claimant owns it")
        }
        let copies = try await ledger.outbox(after: 0, limit: 100_000).map { ($0.event.id, 1 as Int64) }
        #expect(Dictionary(copies, uniquingKeysWith: +) == model.copies)
        let rows = try await ledger.submissions(SubmissionFilter(), before: nil, limit: 1000)
        #expect(rows.count == model.submissions.count)
        for row in rows {
            let id = row.claimant.submissionID
            let submission = try #require(model.submissions[id])
            let outcome: RecordedOutcome = submission.isHeld ? .held : submission.hasFailed ? .failed : .granted
            #expect(row.outcome == outcome)
            #expect(row.eventIDs == NaiveLedger.answers(submission, id))
            #expect(row.eventIDs.allSatisfy { model.copies[$0] != nil }, "every answer is in the outbox")
        }
    }
}
