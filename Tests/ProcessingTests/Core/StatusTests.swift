import Contract
import Ledger
import Testing

@testable import Processing

@Suite("What a core is about")
struct StatusTests {
    private let bench = CoreBench()

    private func gates(_ environment: Environment = .production) -> CoreStatus.Gates? {
        bench.core.status.gates.first { $0.service == .verifyReceipt && $0.environment == environment }
    }

    @Test("counts submissions by state, their bytes, and calls by service and environment")
    func counts() throws {
        let assignment = try bench.own()
        let checks = bench.read(0, 1, 2, in: assignment)
        bench.ask(checks[0])
        let status = bench.core.status
        #expect(status.submissions["checking"] == 2)
        #expect(status.submissions["asking"] == 1)
        #expect(status.submissions["writing"] == 0)
        #expect(status.submissions.count == FlightState.allCases.count - 1)
        #expect(status.bytes == 3 * Int64(Fixture.record(0).byteCount))
        #expect(status.partitionsAssigned == 1 && status.partitionsOwned == 1)
        #expect(gates()?.inFlight == 1)
        #expect(gates()?.limit == ConcurrencyLimiter.start)
        #expect(gates()?.phases == ["closed": 1, "open": 0, "half_open": 0, "ramping": 0])
        #expect(gates(.sandbox)?.inFlight == 0)
        bench.send(.revoked([Fixture.partition]))
        #expect(bench.core.status.partitionsAssigned == 0 && bench.core.status.partitionsOwned == 0)
    }

    @Test("says why nothing is read")
    func readingStop() throws {
        bench.isCheckpointed = true
        #expect(bench.core.status.readingStop == .noPartitions)
        let assignment = try bench.own()
        #expect(bench.core.status.readingStop == nil)
        bench.conclude(try #require(bench.read(0, in: assignment).first), Fixture.verified("t1"))
        bench.wait(WriteBatcher.mostPause)
        let batch = try #require(bench.takeWrites().first)
        bench.send(.written(batch.id, .failure(.unavailable(detail: "away"))))
        #expect(bench.core.status.readingStop == .ledgerUnavailable)
        bench.wait(.seconds(10))
        let again = try #require(bench.takeWrites().first)
        bench.send(.written(again.id, .success([.written(.granted(created: 1), publish: [])])))
        #expect(bench.core.status.readingStop == nil)
        bench.measure = LedgerMeasure(
            retries: [.init(bundleID: Fixture.app, rows: 1, bytes: CoreSettings().retryBytes)], waiting: [],
            outboxRows: 0, outboxAge: 0)
        bench.wait(.seconds(60))
        #expect(bench.core.status.readingStop == .retriesFull)
        bench.send(.stop)
        #expect(bench.core.status.readingStop == .stopping)
    }

    @Test("says that the ledger is away, too, while partitions cannot be taken over for want of it")
    func noTakeOver() throws {
        bench.send(.assigned([Fixture.partition]))
        bench.send(.committed([CommittedOffset(partition: Fixture.partition, offset: 0)]))
        #expect(bench.core.status.readingStop == .noPartitions)
        let takeOver = try #require(bench.takeRequest { if case .takeOver = $0 { true } else { nil } })
        bench.send(.ledger(takeOver.id, .failure(.unavailable(detail: "away"))))
        #expect(bench.core.status.readingStop == .ledgerUnavailable)
    }

    /// A full disk still answers questions.
    @Test("tells once that the ledger is away, and once that everything that failed has its result")
    func ledgerAway() throws {
        let assignment = try bench.own()
        let checks = bench.read(0, 1, in: assignment)
        bench.conclude(checks[0], Fixture.verified("t1"))
        try bench.written(.written(.granted(created: 1), publish: []))
        bench.conclude(checks[1], Fixture.verified("t2"))
        bench.wait(WriteBatcher.mostPause)
        let batch = try #require(bench.takeWrites().first)
        bench.send(.written(batch.id, .failure(.unavailable(detail: "database or disk is full"))))
        bench.wait(.seconds(1))
        let checkpoint = try #require(bench.takeRequest { if case .checkpoint = $0 { true } else { nil } })
        bench.send(.ledger(checkpoint.id, .failure(.unavailable(detail: "database or disk is full"))))
        bench.wait(.seconds(20))
        #expect(bench.takeAlerts() == [.ledgerUnavailable(detail: "database or disk is full")], "samples are answered")
        #expect(bench.core.status.readingStop == .ledgerUnavailable)
        let again = try #require(bench.takeWrites().last)
        bench.send(.written(again.id, .success([.written(.granted(created: 1), publish: [])])))
        #expect(bench.takeAlerts().isEmpty, "the checkpoint has no result yet")
        bench.send(.ledger(checkpoint.id, .success(.checkpointed([true]))))
        #expect(bench.takeAlerts() == [.ledgerAvailable(after: .seconds(21))])
        #expect(bench.core.status.readingStop == nil)
    }

    @Test("tells of an outage that lasts with its latest cause")
    func latestCause() throws {
        let assignment = try bench.own()
        bench.conclude(bench.read(0, in: assignment)[0], Fixture.verified("t1"))
        bench.wait(WriteBatcher.mostPause)
        for (cause, pause) in [("disk full", Duration.seconds(30)), ("a right is missing", .seconds(600))] {
            let batch = try #require(bench.takeWrites().last)
            bench.send(.written(batch.id, .failure(.unavailable(detail: cause))))
            bench.wait(pause)
        }
        let details = bench.takeAlerts().compactMap {
            if case .ledgerUnavailable(let detail) = $0 { detail } else { nil }
        }
        #expect(details == ["disk full", "a right is missing"])
    }

    /// A disk that hangs fails no call.
    @Test("tells that the ledger is away once a batch has had no result for 30 s, while other calls are answered")
    func ledgerHangs() throws {
        let assignment = try bench.own()
        bench.conclude(try #require(bench.read(0, in: assignment).first), Fixture.verified("t1"))
        bench.wait(WriteBatcher.mostPause)
        let batch = try #require(bench.takeWrites().first)
        bench.wait(.seconds(29))
        #expect(bench.takeAlerts().isEmpty)
        bench.wait(.seconds(1))
        #expect(bench.takeAlerts() == [.ledgerUnavailable(detail: "A call has had no result for 30 s.")])
        #expect(bench.core.isLedgerAway == true)
        bench.wait(.seconds(60))
        #expect(bench.takeAlerts().isEmpty, "samples are answered, and the batch is not")
        bench.wait(.seconds(540))
        #expect(bench.takeAlerts() == [.ledgerUnavailable(detail: "A call has had no result for 30 s.")])
        bench.send(.written(batch.id, .success([.written(.granted(created: 1), publish: [])])))
        #expect(bench.takeAlerts() == [.ledgerAvailable(after: .seconds(600) + WriteBatcher.mostPause)])
    }

    @Test("tells of held submissions as they begin to be held, and every ten minutes while they are")
    func held() throws {
        bench.isCheckpointed = true
        try bench.own()
        let none = bench.measure
        let some = LedgerMeasure(
            retries: [], waiting: [], held: [.init(Fixture.app, .productNotConfigured, details: ["a": 30, "b": 2])],
            outboxRows: 0, outboxAge: 0)
        let alert = Alert.held(
            HeldGroup(bundleID: Fixture.app, cause: .productNotConfigured), rows: 32, details: ["a", "b"])
        var told: [[Alert]] = []
        for (measure, seconds) in [(some, 60), (some, 500), (some, 200), (none, 100), (some, 100)] {
            bench.measure = measure
            bench.wait(.seconds(seconds))
            told.append(bench.takeAlerts())
        }
        let over = Alert.heldOver(
            HeldGroup(bundleID: Fixture.app, cause: .productNotConfigured), after: .seconds(770))
        #expect(told == [[alert], [], [alert], [over], [alert]])
    }

    @Test("tells of rows that only a later version can work on, every ten minutes while there are some")
    func later() throws {
        bench.isCheckpointed = true
        try bench.own()
        let none = bench.measure
        let some = LedgerMeasure(retries: [], waiting: [], outboxRows: 0, outboxAge: 0, later: 2)
        var told: [[Alert]] = []
        for (measure, seconds) in [(some, 60), (some, 500), (some, 200), (none, 100), (some, 100)] {
            bench.measure = measure
            bench.wait(.seconds(seconds))
            told.append(bench.takeAlerts())
        }
        let alert = Alert.laterVersion(rows: 2)
        #expect(told == [[alert], [], [alert], [.laterVersionOver(after: .seconds(770))], [alert]])
    }

    @Test("tells at the start how many submissions wait in the ledger")
    func waitingAtStart() throws {
        bench.isCheckpointed = true
        bench.measure = LedgerMeasure(
            retries: [.init(bundleID: Fixture.app, rows: 32, bytes: 1)], waiting: [], outboxRows: 0, outboxAge: 0)
        try bench.own()
        bench.wait(.seconds(60))
        #expect(bench.takeAlerts() == [.waitingAtStart(32, held: 0, oldest: nil)])
    }
}
