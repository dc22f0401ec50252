import Contract
import Ledger
import Testing

@testable import Processing

@Suite("Events that the broker does not take, and rows of the outbox")
struct OutboxTests {
    private let bench = CoreBench()

    private func publishing() throws -> PublishTask {
        let check = try #require(bench.read(0, in: try bench.own()).first)
        bench.conclude(check, Fixture.verified("t1"))
        try bench.written(.written(.granted(created: 1), publish: [Fixture.rendered("t1")]))
        return try #require(bench.takePublishes().first)
    }

    private func owe() throws -> (id: RequestID, content: [OutboxEntry]) {
        try #require(bench.takeRequest { if case .owe(let entries) = $0 { entries } else { nil } })
    }

    /// Has rows taken from the outbox.
    private func take(_ items: OutboxItem...) throws {
        try bench.own()
        bench.isNothingDue = false
        bench.measure = LedgerMeasure(retries: [], waiting: [], outboxRows: items.count, outboxAge: 0)
        bench.wait(.seconds(11))
        let (id, _) = try #require(bench.takeRequest { if case .takeOutbox(let list) = $0 { list } else { nil } })
        bench.send(.ledger(id, .success(.outbox(items))))
    }

    private func item(_ work: OutboxItem.Work, _ step: OutboxStep) -> OutboxItem {
        OutboxItem(lease: OutboxLease(key: Fixture.rendered("t1").key, step: step, number: 4), attempts: 0, work: work)
    }

    private func reports() throws -> [OutboxReport] {
        let (id, list) = try #require(bench.takeRequest { if case .report(let list) = $0 { list } else { nil } })
        bench.send(.ledger(id, .success(.done)))
        return list
    }

    @Test("an event that was not taken is owed under its ownership, and then its offset may be passed")
    func owed() throws {
        bench.published(try publishing(), .failed)
        let (id, entries) = try owe()
        #expect(entries.map(\.key) == [Fixture.rendered("t1").key])
        bench.wait(.seconds(3))
        #expect(bench.takeRequest { if case .checkpoint = $0 { true } else { nil } } == nil)
        bench.send(.ledger(id, .success(.owed([true]))))
        #expect(bench.core.inFlight == 0)
        #expect(try bench.checkpointed().map(\.next) == [1])
    }

    @Test("an event that cannot be owed either is owed until the ledger answers")
    func oweUnanswered() throws {
        bench.published(try publishing(), .failed)
        let (id, first) = try owe()
        bench.send(.ledger(id, .failure(.unavailable(detail: "away"))))
        #expect(bench.core.inFlight == 1)
        bench.wait(.seconds(6))
        let (again, second) = try owe()
        #expect(first == second)
        bench.send(.ledger(again, .success(.owed([true]))))
        #expect(bench.core.inFlight == 0)
    }

    @Test("at its bound the outbox takes no more: the event is produced again until the broker takes it")
    func full() throws {
        bench.measure = LedgerMeasure(retries: [], waiting: [], outboxRows: 100_000, outboxAge: 0)
        let publish = try publishing()
        #expect(bench.takeAlerts() == [.outboxFull])
        bench.published(publish, .failed)
        bench.wait(.seconds(1))
        let again = try #require(bench.takePublishes().first)
        #expect(again.event == publish.event)
        #expect(bench.takeRequest { if case .owe = $0 { true } else { nil } } == nil)
        bench.published(again)
        #expect(bench.core.inFlight == 0)
        bench.wait(.seconds(620))
        #expect(bench.takeAlerts().filter { $0 == .outboxFull } == [.outboxFull], "while that lasts it is told again")
    }

    @Test("a row's event is published, and the row goes when it is acknowledged")
    func published() throws {
        let event = Fixture.rendered("t1").event
        try take(item(.publish(event), .publish))
        let publish = try #require(bench.takePublishes().first)
        #expect(publish.event == event)
        #expect(bench.takeRequest { if case .report = $0 { true } else { nil } } == nil)
        bench.published(publish)
        #expect(try reports() == [.published(item(.publish(event), .publish).lease)])
        #expect(bench.core.inFlight == 0)
    }

    @Test("a topic that takes no events is told once per cause, until it takes all for a minute")
    func notTaken() throws {
        let row = item(.publish(Fixture.rendered("t1").event), .publish)
        try take(row, row, row, row)
        let cause = "the topic does not exist"
        let publishes = bench.takePublishes()
        let results: [PublishReport.Result] = [.failed, .failed, .acknowledged, .failed]
        let told = results.enumerated().map { index, result in
            if result == .acknowledged { bench.wait(.seconds(60)) }
            bench.published(publishes[index], result, cause: result == .failed ? cause : nil)
            return bench.takeAlerts().count { $0 == .eventsNotTaken(.granted, cause: cause) }
        }
        #expect(told == [1, 0, 0, 1])
    }

    @Test("a row whose event is not taken is due later")
    func postponed() throws {
        try take(item(.publish(Fixture.rendered("t1").event), .publish))
        bench.published(try #require(bench.takePublishes().first), .failed)
        guard case .postponed(_, let delay, _) = try #require(try reports().first) else {
            Issue.record("it is due later")
            return
        }
        #expect((1000...2000).contains(delay))
    }

    @Test("a call comes before the event: with a yes the row's event is due at once")
    func called() throws {
        try take(item(.call(Fixture.grant), .call))
        let call = try #require(bench.takeCalls().first)
        #expect(call.grant == Fixture.grant)
        #expect(bench.takePublishes().isEmpty)
        bench.send(.called([Called(token: call.token, result: .accepted, outcome: .replied, took: .milliseconds(9))]))
        #expect(try reports() == [.called(item(.call(Fixture.grant), .call).lease)])
        let next = bench.takeRequest { if case .takeOutbox = $0 { true } else { nil } }
        #expect(next != nil)
        #expect(bench.core.inFlight == 0)
    }

    @Test("a stop waits for a call under way, and reports its end")
    func callDuringStop() throws {
        try take(item(.call(Fixture.grant), .call))
        let call = try #require(bench.takeCalls().first)
        bench.send(.stop)
        bench.wait(.milliseconds(100))
        #expect(bench.stop == nil)
        bench.send(.called([Called(token: call.token, result: .accepted, outcome: .replied, took: .milliseconds(9))]))
        #expect(try reports() == [.called(item(.call(Fixture.grant), .call).lease)])
    }

    @Test("a call under way at the end of a stop keeps its lease, so that nobody calls beside it")
    func callAtStop() throws {
        try take(item(.call(Fixture.grant), .call))
        #expect(bench.takeCalls().count == 1)
        bench.send(.stop)
        bench.wait(.seconds(25))
        #expect(bench.takeRequest { if case .giveBack(_, let outbox) = $0 { outbox } else { nil } } == nil)
        #expect(bench.stop == .clean)
    }

    @Test("rows that come after the beginning of a stop are given back, and nobody is called")
    func takenAtStop() throws {
        try bench.own()
        bench.isNothingDue = false
        bench.measure = LedgerMeasure(retries: [], waiting: [], outboxRows: 1, outboxAge: 0)
        bench.wait(.seconds(11))
        let (id, _) = try #require(bench.takeRequest { if case .takeOutbox(let list) = $0 { list } else { nil } })
        bench.send(.stop)
        let row = item(.call(Fixture.grant), .call)
        bench.send(.ledger(id, .success(.outbox([row]))))
        #expect(bench.takeCalls().isEmpty)
        let given = bench.takeRequest { if case .giveBack(_, let outbox) = $0 { outbox } else { nil } }
        #expect(given?.content == [row.lease])
    }

    @Test("is asked for rows once it has all reports, because a call's report makes its event due")
    func reportedFirst() throws {
        let other = OutboxItem(
            lease: OutboxLease(key: Fixture.rendered("t2").key, step: .call, number: 4), attempts: 0,
            work: .call(Fixture.grant)
        )
        try take(item(.call(Fixture.grant), .call), other)
        func asked() -> RequestID? {
            bench.takeRequest { if case .takeOutbox = $0 { true } else { nil } }?.id
        }
        for call in bench.takeCalls() {
            bench.send(
                .called([Called(token: call.token, result: .accepted, outcome: .replied, took: .milliseconds(9))]))
        }
        bench.send(.ledger(try #require(asked()), .success(.outbox([]))))
        #expect(asked() == nil)
        #expect(try reports().count == 1)
        #expect(asked() != nil)
        #expect(try reports().count == 1)
    }

    @Test("a call without a yes is made again later, for ever")
    func callFailed() throws {
        try take(item(.call(Fixture.grant), .call))
        let call = try #require(bench.takeCalls().first)
        bench.send(
            .called([
                Called(
                    token: call.token, result: .notAccepted(ServiceAnswer(isRefusal: false, "HTTP 500")),
                    outcome: .failed, took: .milliseconds(9))
            ]))
        guard case .postponed = try #require(try reports().first) else {
            Issue.record("it is due later")
            return
        }
    }

    /// Has a call for the grant made, and ended without a yes.
    /// - Returns: the report about its row.
    private func refuse(
        _ answer: ServiceAnswer, _ outcome: CallOutcome, attempts: Int = 0, retryAfter: Duration? = nil
    ) throws -> (delay: Int64, tried: OutboxTry)? {
        try take(
            OutboxItem(
                lease: OutboxLease(key: Fixture.rendered("t1").key, step: .call, number: 4), attempts: attempts,
                work: .call(Fixture.grant)))
        let call = try #require(bench.takeCalls().first)
        bench.send(
            .called([
                Called(
                    token: call.token, result: .notAccepted(answer), outcome: outcome, took: .milliseconds(9),
                    retryAfter: retryAfter)
            ]))
        guard case .postponed(_, let delay, let tried) = try #require(try reports().first) else { return nil }
        return (delay, tried)
    }

    @Test("a grant that its service refuses stays owed with the answer, and is called for at most every quarter hour")
    func refused() throws {
        let answer = ServiceAnswer(isRefusal: true, "HTTP 422")
        let report = try #require(try refuse(answer, .replied, attempts: 20))
        #expect(report.tried == .answered(answer))
        #expect((450_000...900_000).contains(report.delay))
    }

    @Test("a failed call is made again within a minute, or when the service asks for it, a quarter hour at most")
    func retryAfter() throws {
        let answer = ServiceAnswer(isRefusal: false, "HTTP 500")
        let plain = try #require(try refuse(answer, .failed, attempts: 20))
        #expect(plain.tried == .answered(answer) && (30_000...60_000).contains(plain.delay))
    }

    @Test(
        "a pause that the service asks for is obeyed",
        arguments: [(Duration.seconds(300), Int64(300_000)), (.seconds(7200), Int64(900_000))])
    func asked(pause: Duration, delay: Int64) throws {
        let report = try #require(
            try refuse(ServiceAnswer(isRefusal: true, "HTTP 422"), .replied, retryAfter: pause))
        #expect(report.delay == delay)
    }

    @Test("a service that is away is told once, and its return, with the grants that waited")
    func away() throws {
        bench.measure = LedgerMeasure(
            retries: [], waiting: [],
            calls: [.init(bundleID: Fixture.app, rows: 70, refused: 0, oldest: nil)], outboxRows: 70, outboxAge: 0)
        let rows = (0..<70).map { number in
            OutboxItem(
                lease: OutboxLease(key: Fixture.rendered("t\(number)").key, step: .call, number: 4), attempts: 0,
                work: .call(Fixture.grant))
        }
        try bench.own()
        bench.isNothingDue = false
        bench.wait(.seconds(11))
        let (id, _) = try #require(bench.takeRequest { if case .takeOutbox(let list) = $0 { list } else { nil } })
        bench.send(.ledger(id, .success(.outbox(rows))))
        for call in bench.takeCalls() {
            bench.send(
                .called([
                    Called(
                        token: call.token, result: .notAccepted(ServiceAnswer(isRefusal: false, "HTTP 500")),
                        outcome: .failed, took: .milliseconds(9))
                ]))
        }
        #expect(bench.takeAlerts() == [.calls(.serviceAway(Fixture.app, fault: "HTTP 500"))])
        #expect(bench.core.status.services.phases["open"] == 1)
        let gates = bench.core.status.gates
        #expect(!gates.isEmpty && gates.allSatisfy { $0.phases["open"] == 0 })
    }

    @Test("refused grants, and grants of an app without a service, are told until they are over")
    func reminders() throws {
        func measure(_ calls: [LedgerMeasure.Calls]) {
            bench.measure = LedgerMeasure(retries: [], waiting: [], calls: calls, outboxRows: 1, outboxAge: 0)
            bench.wait(.seconds(31))
        }
        try bench.own()
        _ = bench.takeAlerts()
        measure([
            .init(bundleID: Fixture.app, rows: 5, refused: 2, oldest: nil),
            .init(bundleID: "com.example.gone", rows: 3, refused: 0, oldest: nil),
        ])
        #expect(
            bench.takeAlerts() == [
                .calls(.grantsRefused(Fixture.app, rows: 2)), .calls(.serviceMissing("com.example.gone", rows: 3)),
            ])
        measure([])
        let over = bench.takeAlerts()
        try #require(over.count == 2)
        guard case .calls(.serviceMissingOver("com.example.gone", _)) = over[0],
            case .calls(.grantsRefusedOver(Fixture.app, _)) = over[1]
        else {
            Issue.record("\(over)")
            return
        }
    }

    @Test("calls that fail too seldom for a service to be away are told once they are overdue, with their cause")
    func overdue() throws {
        func measure(_ calls: [LedgerMeasure.Calls]) {
            bench.measure = LedgerMeasure(retries: [], waiting: [], calls: calls, outboxRows: 1, outboxAge: 0)
            bench.wait(.seconds(31))
        }
        func owed(since age: Int64) -> [LedgerMeasure.Calls] {
            let oldest = Timestamp(milliseconds: bench.wall.milliseconds - age * 1_000)
            return [.init(bundleID: Fixture.app, rows: 1, refused: 0, oldest: oldest)]
        }
        // Calls to the ledger without a result here have news of their own.
        func news() -> [CallAlert] {
            bench.takeAlerts().compactMap { if case .calls(let alert) = $0 { alert } else { nil } }
        }
        func call(_ result: Called.Result, _ outcome: CallOutcome) throws {
            let call = try #require(bench.takeCalls().first)
            bench.send(.called([Called(token: call.token, result: result, outcome: outcome, took: .zero)]))
            _ = try reports()
        }
        try take(item(.call(Fixture.grant), .call))
        bench.isNothingDue = true
        try call(.notAccepted(ServiceAnswer(isRefusal: false, "HTTP 401")), .failed)
        _ = bench.takeAlerts()
        measure(owed(since: 330))
        measure(owed(since: 360))
        let told = news()
        guard told.count == 1, case .callsOverdue(Fixture.app, rows: 1, let age, fault: "HTTP 401") = told[0] else {
            Issue.record("nobody hears of it")
            return
        }
        #expect(age >= .seconds(300))
        measure(owed(since: 390))
        #expect(news() == [])
        // The apps file has no such service any more, and the call still waits.
        bench.send(.apps(AppsSnapshot(version: 2, endpoints: Fixture.apps.endpoints, services: [], content: 0)))
        measure(owed(since: 420))
        #expect(news() == [.serviceMissing(Fixture.app, rows: 1)])
        bench.send(.apps(Fixture.apps))
        measure(owed(since: 450))
        _ = news()
        measure([])
        guard case .callsOverdueOver(Fixture.app, _)? = news().first else {
            Issue.record("it is never over")
            return
        }
        // Without a failed call for minutes, overdue calls are only on their way.
        bench.wait(.seconds(300))
        measure(owed(since: 400))
        #expect(news() == [])
    }

    @Test("is asked nothing while nothing is owed")
    func idle() throws {
        try bench.own()
        bench.wait(.seconds(40))
        try bench.checkpointed()
        bench.isNothingDue = false
        bench.wait(.seconds(600))
        #expect(bench.requests.isEmpty)
    }
}
