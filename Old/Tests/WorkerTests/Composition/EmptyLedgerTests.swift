import Kafka
import Ledger
import LedgerConformance
import Logging
import Purchases
import Synchronization
import Testing

@testable import Worker

@Suite("A ledger that holds nothing")
struct EmptyLedgerTests {
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private func withLedger<Result>(_ body: (SQLiteLedger) async throws -> Result) async throws -> Result {
        let folder = try TemporaryFolder()
        let ledger = try await SQLiteLedger.open(
            SQLiteLedgerConfiguration(path: folder.path + "/grantor.db", migrate: true), logger: logger)
        let result = try await body(ledger)
        try await ledger.close()
        return result
    }

    private func settle(in ledger: SQLiteLedger) async throws(LedgerError) {
        let settlement = Samples.delivered(SubmissionID("s"), Samples.purchase(TransactionID("1")))
        _ = try await ledger.settle([settlement], quarantines: [], now: Samples.noon)
    }

    @Test("Beside a group that has not begun it is a new deployment's")
    func new() async throws {
        let finding = try await withLedger { ledger in
            await EmptyLedger(ledger: ledger) { _ async throws(KafkaError) in 0 }.finding()
        }
        #expect(finding == .fits)
    }

    @Test("Beside a group with offsets it is another ledger than before")
    func forgotten() async throws {
        let finding = try await withLedger { ledger in
            await EmptyLedger(ledger: ledger) { _ async throws(KafkaError) in 3 }.finding()
        }
        #expect(finding == .forgotten(partitions: 3))
    }

    @Test("One that holds something asks no broker")
    func holdsSomething() async throws {
        let asked = Mutex(false)
        let finding = try await withLedger { ledger in
            try await settle(in: ledger)
            return await EmptyLedger(ledger: ledger) { _ async throws(KafkaError) in
                asked.withLock { $0 = true }
                return 3
            }.finding()
        }
        #expect(finding == .fits)
        #expect(!asked.withLock { $0 })
    }

    @Test("Offsets that another worker commits meanwhile are behind what it settled, and not taken for forgotten ones")
    func anotherWorker() async throws {
        let finding = try await withLedger { ledger in
            await EmptyLedger(ledger: ledger) { _ async throws(KafkaError) in
                do {
                    try await settle(in: ledger)
                } catch {
                    Issue.record(error)
                }
                return 1
            }.finding()
        }
        #expect(finding == .fits)
    }

    @Test("Brokers that do not say leave it open")
    func unknown() async throws {
        let finding = try await withLedger { ledger in
            await EmptyLedger(ledger: ledger) { _ async throws(KafkaError) in
                throw .resourcesExhausted("rd_kafka_new", errno: 0)
            }.finding()
        }
        guard case .groupUnknown = finding else {
            Issue.record("found \(finding)")
            return
        }
    }

    @Test("A ledger that does not say is not called empty")
    func ledgerUnknown() async throws {
        let folder = try TemporaryFolder()
        let ledger = try await SQLiteLedger.open(
            SQLiteLedgerConfiguration(path: folder.path + "/grantor.db", migrate: true), logger: logger)
        try await ledger.close()
        let finding = await EmptyLedger(ledger: ledger) { _ async throws(KafkaError) in 3 }.finding()
        guard case .ledgerUnknown = finding else {
            Issue.record("found \(finding)")
            return
        }
    }

    @Test("Brokers that are away are asked again until they say, or the worker is to stop", arguments: [true, false])
    func asksAgain(theyComeBack: Bool) async throws {
        let asked = Mutex(0)
        let limits = Mutex<[Duration]>([])
        let lines = Mutex<[String]>([])
        try await withLedger { ledger in
            await EmptyLedger(ledger: ledger) { limit async throws(KafkaError) in
                asked.withLock { $0 += 1 }
                limits.withLock { $0.append(limit) }
                guard asked.withLock({ $0 }) > 15 else { throw .cancelled }
                return 3
            }.report(
                pause: { rest in
                    #expect(rest == EmptyLedger.rest)
                    return theyComeBack || asked.withLock { $0 } < 10
                },
                Logger(label: "test") { _ in NotingHandler { line in lines.withLock { $0.append(line) } } })
        }
        #expect(asked.withLock { $0 } == (theyComeBack ? 16 : 10))
        #expect(limits.withLock { $0.prefix(4) } == [.seconds(5), .seconds(10), .seconds(15), .seconds(15)])
        let unknown = "The ledger is empty, and whether its group has worked before could not be asked"
        let forgotten =
            "The ledger is empty, though its group has worked before: what was granted can be granted again"
        let expected = theyComeBack ? [unknown, unknown, unknown, forgotten] : [unknown, unknown]
        #expect(lines.withLock { $0 } == expected)
    }

    @Test("What waiting does not mend is said once")
    func asksOnce() async throws {
        let lines = Mutex<[String]>([])
        try await withLedger { ledger in
            await EmptyLedger(ledger: ledger) { _ async throws(KafkaError) in
                throw .resourcesExhausted("rd_kafka_new", errno: 0)
            }.report(
                pause: { _ in
                    Issue.record("it waits")
                    return false
                },
                Logger(label: "test") { _ in NotingHandler { line in lines.withLock { $0.append(line) } } })
        }
        #expect(lines.withLock { $0.count } == 1)
    }
}
