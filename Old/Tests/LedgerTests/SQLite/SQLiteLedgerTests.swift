import Foundation
import GRDB
import LedgerConformance
import Purchases
import Testing

@testable import Ledger

@Suite struct SQLiteLedgerTests {
    @Test(arguments: LedgerConformance.rules)
    func keepsEveryRuleOfLedgers(rule: ConformanceRule) async throws {
        let place = try TemporaryLedger()
        let ledger = try await place.open()
        try await rule.check(ledger)
        try await ledger.close()
    }

    @Test func whatWasSettledIsThereAfterReopening() async throws {
        let place = try TemporaryLedger()
        let first = try await place.open()
        _ = try await first.settle(
            [Samples.grant("s1", Samples.purchase("1")), Samples.held("s2")],
            quarantines: [Samples.quarantine(offset: 1)], now: Samples.noon)
        let counts = try await first.counts()
        let events = try await first.events(after: 0, limit: 10)
        try await first.close()
        let second = try await place.open(migrate: false)
        #expect(try await second.counts() == counts)
        #expect(try await second.events(after: 0, limit: 10) == events)
        try await second.close()
    }

    @Test func callsAfterClosingAreUnusable() async throws {
        let place = try TemporaryLedger()
        let ledger = try await place.open()
        try await ledger.close()
        await #expect(throws: LedgerError.unusable("the ledger is closed")) {
            try await ledger.settle([], quarantines: [], now: Samples.noon)
        }
        await #expect(throws: LedgerError.self) { try await ledger.counts() }
    }

    @Test func aDeletedFileIsDamageAndIsNotMadeAnew() async throws {
        let place = try TemporaryLedger()
        let ledger = try await place.open()
        try FileManager.default.removeItem(atPath: place.path)
        await #expect(throws: LedgerError.damaged("\(place.path) is gone")) {
            try await ledger.settle([Samples.failure("s1")], quarantines: [], now: Samples.noon)
        }
        await #expect(throws: LedgerError.self) { try await ledger.recorded([Samples.key("s1")]) }
        #expect(!FileManager.default.fileExists(atPath: place.path))
    }

    @Test(arguments: ["", "-wal"])
    func aReplacedFileIsDamage(suffix: String) async throws {
        let place = try TemporaryLedger()
        let ledger = try await place.open()
        try FileManager.default.moveItem(atPath: place.path + suffix, toPath: place.path + ".moved")
        try FileManager.default.copyItem(atPath: place.path + ".moved", toPath: place.path + suffix)
        await #expect(throws: LedgerError.damaged("\(place.path)\(suffix) was replaced while it was open")) {
            try await ledger.settle([Samples.failure("s1")], quarantines: [], now: Samples.noon)
        }
    }

    @Test func aFullDiskIsUnavailableLeavesNothingAndPasses() async throws {
        let place = try TemporaryLedger()
        let ledger = try await place.open()
        let pages = try await ledger.pool.writeWithoutTransaction { try Int.fetchOne($0, sql: "PRAGMA page_count") }
        try await limitPages(ledger, try #require(pages) + 2)
        let batch = (0..<200).map { index in
            Samples.grant(SubmissionID("s\(index)"), Samples.purchase(TransactionID("\(index)")))
        }
        await #expect {
            try await ledger.settle(batch, quarantines: [], now: Samples.noon)
        } throws: {
            isUnavailable($0)
        }
        #expect(try await ledger.counts().grants == 0)
        try await limitPages(ledger, 1_000_000)
        let outcomes = try await ledger.settle(batch, quarantines: [], now: Samples.noon).outcomes
        #expect(outcomes.count == 200)
        #expect(try await ledger.counts().grants == 200)
    }

    private func isUnavailable(_ error: any Error) -> Bool {
        if case LedgerError.unavailable = error { true } else { false }
    }

    private func limitPages(_ ledger: SQLiteLedger, _ pages: Int) async throws {
        try await ledger.pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA max_page_count = \(pages)") }
    }

    @Test func aLedgerLockedByAnotherProcessIsUnavailableAndPasses() async throws {
        let place = try TemporaryLedger()
        let ledger = try await place.open(busyTimeout: .milliseconds(1))
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: place.path, configuration: configuration)
        try await other.writeWithoutTransaction { database in
            try database.execute(sql: "BEGIN IMMEDIATE")
        }
        await #expect {
            try await ledger.settle([Samples.failure("s1")], quarantines: [], now: Samples.noon)
        } throws: {
            isUnavailable($0)
        }
        #expect(try await ledger.recorded([Samples.key("s1")]).isEmpty, "reads go on")
        try await other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        _ = try await ledger.settle([Samples.failure("s1")], quarantines: [], now: Samples.noon)
        #expect(try await ledger.counts().submissions == [.failed: 1])
    }

    @Test(arguments: ["DELETE FROM grants", "UPDATE grants SET user_id = 'bob'"])
    func grantsAreNeitherDeletedNorRewritten(sql: String) async throws {
        let place = try TemporaryLedger()
        let ledger = try await place.open()
        _ = try await ledger.settle(
            [Samples.grant("s1", Samples.purchase("1"))], quarantines: [], now: Samples.noon)
        await #expect(throws: DatabaseError.self) {
            try await ledger.pool.write { try $0.execute(sql: sql) }
        }
        #expect(try await ledger.grants(GrantFilter(), before: nil, limit: 10).map(\.claimant.userID) == ["alice"])
    }

    @Test func aRowThatThisVersionCannotReadDoesNotKeepTheOthersFromBeingTaken() async throws {
        let place = try TemporaryLedger()
        let ledger = try await place.open()
        _ = try await ledger.settle(
            [Samples.parked("newer", after: .zero), Samples.parked("own", after: .seconds(1))], quarantines: [],
            now: Samples.noon)
        try await ledger.pool.write {
            try $0.execute(
                sql: "UPDATE waiting SET claim = '{}' WHERE due_at = ?", arguments: [Samples.noon.milliseconds])
        }
        let due = try await ledger.takeDue(
            "worker", limit: 10, for: .seconds(30), now: Samples.noon.advanced(by: .seconds(2)))
        #expect(due.map(\.key.submissionID) == ["newer", "own"])
        #expect(due.map { $0.submission == nil } == [true, false])
        try await ledger.close()
    }

    @Test func evidenceIsKeptWhileWaitingAndErasedWithTheDecision() async throws {
        let place = try TemporaryLedger()
        let ledger = try await place.open()
        func evidence() async throws -> String? {
            try await ledger.pool.read {
                try String.fetchOne($0, sql: "SELECT claim FROM waiting")
            }
        }
        _ = try await ledger.settle([Samples.held("s1")], quarantines: [], now: Samples.noon)
        #expect(try await evidence()?.contains(#""receipt":"c2VjcmV0""#) == true)
        _ = try await ledger.settle([Samples.failure("s1")], quarantines: [], now: Samples.noon)
        #expect(try await evidence() == nil)
    }

    @Test func aCallOfACancelledTaskRunsToItsEnd() async throws {
        let place = try TemporaryLedger()
        let ledger = try await place.open()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.cancelAll()
            group.addTask {
                _ = try await ledger.settle([Samples.failure("s1")], quarantines: [], now: Samples.noon)
            }
            try await group.waitForAll()
        }
        #expect(try await ledger.counts().submissions == [.failed: 1])
    }

    @Test func anEventThatIsNoUUIDIsRefusedWithItsWholeBatch() async throws {
        let place = try TemporaryLedger()
        let ledger = try await place.open()
        let event = Event(id: "x", kind: .quarantined, key: nil, headers: [], value: nil)
        let quarantine = Quarantine(
            origin: Origin(topic: "t", partition: 0, offset: 0), reason: "r", event: event)
        await #expect(throws: LedgerError.damaged("an event's id is no UUID")) {
            try await ledger.settle([Samples.failure("s1")], quarantines: [quarantine], now: Samples.noon)
        }
        #expect(try await ledger.counts().submissions == [:])
    }
}
