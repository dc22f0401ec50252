import LedgerConformance
import PostgresTesting
import Purchases
import Testing

@testable import Ledger

@Suite struct PostgresLedgerTests {
    @Test(arguments: LedgerConformance.rules)
    func keepsEveryRuleOfLedgers(rule: ConformanceRule) async throws {
        let ledger = try await TemporaryPostgres().open()
        try await rule.check(ledger)
        await ledger.close()
    }

    @Test func whatWasSettledIsThereAfterReopening() async throws {
        let place = try await TemporaryPostgres()
        let first = try await place.open()
        _ = try await first.settle(
            [Samples.grant("s1", Samples.purchase("1")), Samples.held("s2")],
            quarantines: [Samples.quarantine(offset: 1)], now: Samples.noon)
        let counts = try await first.counts()
        let events = try await first.events(after: 0, limit: 10)
        await first.close()
        let second = try await place.open()
        #expect(try await second.counts() == counts)
        #expect(try await second.events(after: 0, limit: 10) == events)
        await second.close()
    }

    @Test func callsAfterClosingAreUnusable() async throws {
        let ledger = try await TemporaryPostgres().open()
        await ledger.close()
        await #expect(throws: LedgerError.unusable("the ledger is closed")) {
            try await ledger.settle([], quarantines: [], now: Samples.noon)
        }
    }

    @Test(arguments: ["DELETE FROM grants", "UPDATE grants SET user_id = 'bob'", "TRUNCATE grants"])
    func grantsAreNeitherDeletedNorRewritten(sql: String) async throws {
        let place = try await TemporaryPostgres()
        let ledger = try await place.open()
        _ = try await ledger.settle([Samples.grant("s1", Samples.purchase("1"))], quarantines: [], now: Samples.noon)
        await #expect(throws: PostgresServer.Failure.self) { try await place.query(sql) }
        #expect(try await ledger.grants(GrantFilter(), before: nil, limit: 10).map(\.claimant.userID) == ["alice"])
        await ledger.close()
    }

    @Test func evidenceIsKeptWhileWaitingAndErasedWithTheDecision() async throws {
        let place = try await TemporaryPostgres()
        let ledger = try await place.open()
        let question = "SELECT claim FROM waiting"
        _ = try await ledger.settle([Samples.held("s1")], quarantines: [], now: Samples.noon)
        #expect(try await place.query(question).contains(#""receipt":"c2VjcmV0""#))
        _ = try await ledger.settle([Samples.failure("s1")], quarantines: [], now: Samples.noon)
        #expect(try await place.query(question).isEmpty)
        await ledger.close()
    }

    @Test func evidenceIsNotWrittenAgainUnlessItIsAnother() async throws {
        let place = try await TemporaryPostgres()
        let ledger = try await place.open()
        try await place.query("ALTER TABLE waiting ALTER COLUMN claim SET STORAGE EXTERNAL")
        let aside = try await place.query(
            "SELECT reltoastrelid::regclass FROM pg_class WHERE oid = 'waiting'::regclass")
        func park(_ letter: String, after delay: Duration) async throws -> String {
            let submission = Submission(
                id: "s1", userID: "alice", bundleID: Samples.bundle,
                evidence: .receipt(base64: EvidenceText(String(repeating: letter, count: 40_000))),
                submittedAt: Samples.noon)
            let parked = Samples.held("s1").waiting(
                Waiting(
                    .held(.sharedSecretRefused), detail: "No secret fits.", submission: submission, delay: delay))
            _ = try await ledger.settle([parked], quarantines: [], now: Samples.noon)
            #expect(
                try await place.query("SELECT due_at - \(Samples.noon.milliseconds) FROM waiting")
                    == "\(delay.wholeMilliseconds)")
            #expect(try await place.query("SELECT claim FROM waiting").contains(#""receipt":"\#(letter)"#))
            return try await place.query("SELECT string_agg(DISTINCT chunk_id::text, ' ') FROM \(aside)")
        }
        let first = try await park("A", after: .seconds(1))
        #expect(try await park("A", after: .seconds(2)) == first)
        #expect(try await park("B", after: .seconds(3)) != first)
        await ledger.close()
    }

    @Test func aCallOfACancelledTaskRunsToItsEnd() async throws {
        let ledger = try await TemporaryPostgres().open()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.cancelAll()
            group.addTask { _ = try await ledger.settle([Samples.failure("s1")], quarantines: [], now: Samples.noon) }
            try await group.waitForAll()
        }
        #expect(try await ledger.counts().submissions == [.failed: 1])
        await ledger.close()
    }

    @Test func anEventThatIsNoUUIDIsRefusedWithItsWholeBatch() async throws {
        let ledger = try await TemporaryPostgres().open()
        let event = Event(id: "x", kind: .quarantined, key: nil, headers: [], value: nil)
        let quarantine = Quarantine(origin: Origin(topic: "t", partition: 0, offset: 0), reason: "r", event: event)
        await #expect(throws: LedgerError.damaged("an event's id is no UUID")) {
            try await ledger.settle([Samples.failure("s1")], quarantines: [quarantine], now: Samples.noon)
        }
        #expect(try await ledger.counts().submissions == [:])
        await ledger.close()
    }

    @Test func aLeaseThatRanOutLetsAnotherWorkerPublish() async throws {
        let ledger = try await TemporaryPostgres().open()
        #expect(try await ledger.takeRelay("first", for: .zero, now: Samples.noon) != nil)
        #expect(try await ledger.takeRelay("second", for: .seconds(1_000_000), now: Samples.noon) != nil)
        let noted = try await ledger.published(
            RelayNote(through: 0), by: "first", for: .seconds(1_000_000), now: Samples.noon)
        #expect(!noted)
        await ledger.close()
    }

    @Test func nothingCanBeNotedThatTheOutboxDoesNotHave() async throws {
        let ledger = try await TemporaryPostgres().open()
        _ = try await ledger.takeRelay("first", for: .seconds(1_000_000), now: Samples.noon)
        await #expect(throws: LedgerError.damaged("entries were published that the outbox does not have")) {
            try await ledger.published(RelayNote(through: 1), by: "first", for: .seconds(1_000_000), now: Samples.noon)
        }
        await ledger.close()
    }

    @Test func aReadOfTheOutboxEndsBeforeItIsTooLarge() async throws {
        let ledger = try await TemporaryPostgres().open()
        let large = (0..<5).map { index in
            Quarantine(
                origin: Origin(topic: "t", partition: 0, offset: index), reason: "r",
                event: Event(
                    id: EventID("00000000-0000-5000-8000-00000000000\(index)"), kind: .quarantined, key: nil,
                    headers: [], value: Array(repeating: 7, count: 3 << 20)))
        }
        _ = try await ledger.settle([], quarantines: large, now: Samples.noon)
        #expect(try await ledger.outbox(after: 0, limit: 10).map(\.sequence) == [1, 2, 3])
        #expect(try await ledger.outbox(after: 3, limit: 10).map(\.sequence) == [4, 5])
        await ledger.close()
    }
}

extension Settlement {
    /// The same submission with something else to wait for.
    fileprivate func waiting(_ waiting: Waiting) -> Settlement {
        Settlement(
            claimant: claimant, fingerprint: fingerprint, origin: origin, receivedAt: receivedAt, attempts: attempts,
            history: history, decision: .wait(waiting))
    }
}
