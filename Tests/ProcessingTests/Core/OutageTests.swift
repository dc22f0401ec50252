import Contract
import Ledger
import Scheduling
import Testing

@testable import Processing

@Suite("While an endpoint is away")
struct OutageTests {
    private let bench = CoreBench()

    /// Asks about records until the breaker of verifyReceipt opens.
    private func open(in assignment: Assignment) throws {
        var offset: Int64 = 0
        while !bench.alerts.contains(.breakerOpened(Fixture.verifyReceipt, fault: "HTTP 503")) {
            try #require(offset < 200)
            let check = try #require(bench.read(offset, in: assignment).first)
            bench.ask(check)
            for attempt in bench.takeAttempts() {
                bench.attempted(
                    attempt, .concluded(.retry(.unreachable, notBefore: nil)), .failed, fault: "HTTP 503")
            }
            offset += 1
        }
    }

    private func read(_ offset: Int64, in assignment: Assignment) throws {
        bench.ask(try #require(bench.read(offset, in: assignment).first))
    }

    /// Reads ten receipts once nothing is left to write; the checks of those whose signature is looked at.
    private func signatureChecks() throws -> [CheckTask] {
        let assignment = try bench.own()
        try open(in: assignment)
        _ = writeAll()
        bench.isSigned = nil
        let records = (1000..<Int64(1010)).map { Fixture.record($0) }
        bench.send(.records(RecordBatch(assignment: assignment.id, records: records)))
        for check in bench.takeChecks() { bench.ask(check) }
        return bench.takeChecks()
    }

    private static func write(_ batch: WriteBatch, _ bench: CoreBench) {
        let results = batch.decisions.map { decision -> DecisionResult in
            guard case .wait = decision.content else { return .written(.granted(created: 1), publish: []) }
            return .written(.retrying(.endpointUnavailable), publish: [])
        }
        bench.send(.written(batch.id, .success(results)))
    }

    /// Writes the waiting submissions, and returns the decisions.
    private func writeAll() -> [Decision] {
        var all: [Decision] = []
        for _ in 0..<50 {
            bench.wait(WriteBatcher.mostPause)
            for batch in bench.takeWrites() {
                all += batch.decisions
                Self.write(batch, bench)
            }
        }
        return all
    }

    @Test("submissions go to retries at once, uncounted, but for a few that find out whether it is back")
    func shed() throws {
        let assignment = try bench.own()
        try open(in: assignment)
        for offset in 1000..<Int64(1050) { try read(offset, in: assignment) }
        let entries = writeAll().compactMap { if case .wait(let entry) = $0.content { entry } else { nil } }
        let uncounted = entries.filter { $0.cause == .retrying(.endpointUnavailable, Fixture.verifyReceipt) }
        #expect(uncounted.count >= 47)
        #expect(uncounted.allSatisfy { $0.delay >= 15_000 && $0.delay <= 900_000 })
        bench.wait(.seconds(5))
        _ = writeAll()
        #expect(bench.core.inFlight <= 3)
    }

    @Test("what does not need it is decided as ever")
    func isolation() throws {
        let assignment = try bench.own()
        try open(in: assignment)
        _ = writeAll()
        for offset in 1000..<Int64(1100) { try read(offset, in: assignment) }
        let signed = try #require(bench.read(2000, in: assignment).first)
        bench.conclude(signed, Fixture.verified("t1"))
        #expect(writeAll().contains { $0.content == .grant([Fixture.purchase("t1")], by: .signedTransaction) })
        try read(2001, in: assignment)
        #expect(bench.demand != nil)
    }

    @Test("Apple's signature is enough where the app's rules say so")
    func local() throws {
        let checks = try signatureChecks()
        #expect(checks.count >= 7)
        for check in checks {
            guard case .signature(let submission, mayDecide: true) = check.work else {
                Issue.record("the signature alone")
                return
            }
            let verdict = Verdict.verified([Fixture.purchase("t\(submission.id)")], by: .local)
            bench.send(.checked([Checked(token: check.token, result: .signature(holds: true, verdict))]))
        }
        let grants = writeAll().filter { if case .grant(_, .local) = $0.content { true } else { false } }
        #expect(grants.count == checks.count)
    }

    @Test("a receipt in which nothing is new is asked about later, because a signature is no reply that doubts")
    func localNothingNew() throws {
        let check = try #require(try signatureChecks().first)
        let verdict = Verdict.verified([Fixture.purchase("t1")], by: .local)
        bench.send(.checked([Checked(token: check.token, result: .signature(holds: true, verdict))]))
        try bench.written(.nothingNew)
        let later = try bench.written(.written(.retrying(.endpointUnavailable), publish: []))
        let isNoDoubt =
            if case .wait(let entry) = later.decisions[0].content { entry.doubt == nil } else { false }
        #expect(isNoDoubt)
    }

    @Test("what Apple's signature does not decide waits in retries after all")
    func localUndecided() throws {
        let checks = try signatureChecks()
        for (number, check) in checks.enumerated() {
            bench.send(.checked([Checked(token: check.token, result: .signature(holds: number < 2, nil))]))
        }
        #expect(bench.takeChecks().isEmpty, "it is looked at once")
        let entries = writeAll().compactMap { if case .wait(let entry) = $0.content { entry } else { nil } }
        #expect(entries.count >= 7)
        #expect(entries.count { $0.isSigned } == 2, "what Apple has signed is taken first")
    }

    @Test("one app may use most of retries, and reading goes on until these are full")
    func oneApp() throws {
        let assignment = try bench.own()
        try open(in: assignment)
        _ = writeAll()
        let most = LedgerMeasure.App(bundleID: Fixture.app, rows: 1, bytes: CoreSettings().retryBytes / 4 * 3)
        bench.measure = LedgerMeasure(retries: [most], waiting: [], outboxRows: 0, outboxAge: 0)
        bench.wait(.seconds(15))
        for offset in 1000..<Int64(1050) { try read(offset, in: assignment) }
        #expect(writeAll().count { if case .wait = $0.content { true } else { false } } >= 47)
        #expect(bench.core.status.readingStop == nil)
    }

    @Test("what waits for room in retries is the reason why nothing is read, once it uses the gates' part up")
    func postponed() throws {
        var settings = CoreSettings()
        settings.inFlight = 64
        settings.retryBytes = 1 << 20
        let bench = CoreBench(settings: settings)
        bench.isMeasured = false
        let assignment = try bench.own()
        func sample() throws {
            let (id, _) = try #require(bench.takeRequest { if case .measure = $0 { true } else { nil } })
            bench.send(.ledger(id, .success(.measured(bench.sample))))
        }
        let later = Verdict.retry(.temporarilyUnable, notBefore: bench.wall.advanced(by: .seconds(600)))
        for offset in 0..<Int64(24) {
            bench.ask(try #require(bench.read(offset, in: assignment).first))
            bench.attempted(try #require(bench.takeAttempts().first), .concluded(later))
        }
        #expect(bench.core.status.readingStop == .retriesFull, "no sample has said yet that they have room")
        try sample()
        bench.wait(.seconds(2))
        #expect(bench.takeWrites().first?.decisions.count == 24)
        #expect(bench.core.status.readingStop == nil)
    }

    @Test("when it is back, rows are taken whatever their due time")
    func early() throws {
        let assignment = try bench.own()
        try open(in: assignment)
        for offset in 1000..<Int64(1010) { try read(offset, in: assignment) }
        _ = writeAll()
        bench.isNothingDue = false
        var isEarly = false
        for _ in 0..<600 {
            bench.wait(.milliseconds(100))
            for attempt in bench.takeAttempts() {
                bench.attempted(attempt, .concluded(.rejected(Rejection(.receiptNotAuthentic, "21003"))))
            }
            _ = writeAll()
            for _ in 0..<100 {
                let taken = bench.takeRequest { if case .takeDue(let list, _) = $0 { list } else { nil } }
                guard let (id, requests) = taken else { break }
                isEarly = isEarly || requests.contains { $0.endpoint == Fixture.verifyReceipt && $0.beforeDue }
                bench.send(.ledger(id, .success(.due([]))))
            }
        }
        #expect(isEarly)
        #expect(bench.alerts.contains { if case .breakerClosed = $0 { true } else { false } })
    }

    @Test("people hear of it again after ten minutes, and at its end, with what waits")
    func told() throws {
        bench.isCheckpointed = true
        let assignment = try bench.own()
        try open(in: assignment)
        bench.measure = LedgerMeasure(
            retries: [], waiting: [.init(endpoint: Fixture.verifyReceipt, rows: 32)], outboxRows: 0, outboxAge: 0)
        _ = bench.takeAlerts()
        for _ in 0..<70 {
            bench.wait(.seconds(10))
            _ = writeAll()
        }
        let alerts = bench.takeAlerts()
        guard alerts.count == 1,
            case .breakerStillOpen(Fixture.verifyReceipt, after: let lasting, waiting: 32) = alerts[0]
        else {
            Issue.record("\(alerts)")
            return
        }
        #expect(lasting >= .seconds(600))
        for offset in 1000..<Int64(1060) where bench.alerts.isEmpty {
            try read(offset, in: assignment)
            for attempt in bench.takeAttempts() {
                bench.attempted(attempt, .concluded(.rejected(Rejection(.receiptNotAuthentic, "21003"))))
            }
            _ = writeAll()
            bench.wait(.seconds(1))
        }
        guard case .breakerClosed(Fixture.verifyReceipt, after: let whole, waited: 32) = bench.alerts.first else {
            Issue.record("\(bench.alerts)")
            return
        }
        #expect(whole >= .seconds(700))
    }

    @Test("a gate that has answered nothing for a second counts as away while gates are crowded by bytes")
    func silentByBytes() throws {
        var settings = CoreSettings()
        settings.inFlightBytes = Int64(Fixture.record(0).byteCount) * 60
        settings.callsPerEndpoint = 16
        func written(after count: Int64) throws -> Int {
            let bench = CoreBench(settings: settings)
            let assignment = try bench.own()
            for offset in 0..<count { bench.ask(try #require(bench.read(offset, in: assignment).first)) }
            #expect(bench.takeWrites().isEmpty)
            bench.wait(.seconds(1))
            return bench.takeWrites().first?.decisions.count ?? 0
        }
        #expect(try written(after: 20) == 0, "a third of what there is")
        #expect(try written(after: 40) == 24, "all but the calls")
    }

    @Test("a gate that has answered nothing for a second counts as away while gates are crowded")
    func silent() throws {
        var settings = CoreSettings()
        settings.inFlight = 256
        settings.callsPerEndpoint = 16
        let bench = CoreBench(settings: settings)
        let assignment = try bench.own()
        // Sixteen calls hang, and the others wait behind them.
        for offset in 0..<Int64(140) { bench.ask(try #require(bench.read(offset, in: assignment).first)) }
        #expect(bench.takeAttempts().count == 16)
        bench.wait(.milliseconds(500))
        #expect(bench.takeWrites().isEmpty)
        bench.wait(.seconds(1))
        let batch = try #require(bench.takeWrites().first)
        #expect(batch.decisions.count > 100)
    }

    @Test(
        "an endpoint that replies slowly keeps nobody from reading on, neither by number nor by bytes",
        arguments: [true, false])
    func slow(byBytes: Bool) throws {
        var settings = CoreSettings()
        settings.inFlight = byBytes ? 4096 : 256
        settings.callsPerEndpoint = byBytes ? 256 : 16
        let arriving: Int64 = byBytes ? 40 : 10
        // All calls together have less room than calls may be made at once.
        if byBytes { settings.inFlightBytes = Int64(Fixture.record(0).byteCount) * 240 }
        let bench = CoreBench(settings: settings)
        let assignment = try bench.own()
        var underWay: [(attempt: AttemptTask, took: Duration, end: Instant)] = []
        var begun = 0
        var (offset, before): (Int64, Int64) = (0, 0)
        for second in 0..<300 {
            if second == 40 { before = offset }
            // Later Apple replies to some of them, after three to nine seconds.
            for _ in 0..<10 {
                for _ in 0..<arriving / 10 where bench.core.submissions.limit.isDemanding {
                    bench.ask(try #require(bench.read(offset, in: assignment).first))
                    offset += 1
                }
                bench.wait(.milliseconds(100))
                for attempt in bench.takeAttempts() {
                    let took: Duration = second < 30 ? .milliseconds(200) : .milliseconds(3000 + begun % 21 * 300)
                    underWay.append((attempt, took, bench.now + took))
                    begun += 1
                }
                for call in underWay where call.end <= bench.now {
                    let verdict = Verdict.rejected(Rejection(.receiptNotAuthentic, "21003"))
                    bench.attempted(call.attempt, .concluded(verdict), took: call.took)
                }
                underWay.removeAll { $0.end <= bench.now }
                for batch in bench.takeWrites() { Self.write(batch, bench) }
            }
        }
        #expect(offset - before == arriving * 260, "all that came, ten seconds after it became slow")
    }

    @Test(
        "an endpoint that fails a part of its calls is asked about the others, and keeps nobody from reading on",
        arguments: [(tenths: 3, least: 90), (tenths: 5, least: 65), (tenths: 7, least: 35)])
    func partlyFailing(tenths: Int, least: Int) throws {
        var settings = CoreSettings()
        settings.inFlight = 4096
        settings.callsPerEndpoint = 100
        let bench = CoreBench(settings: settings)
        let assignment = try bench.own()
        var underWay: [(attempt: AttemptTask, hasFailed: Bool, end: Instant)] = []
        var generator = SplitMix64(seed: 7)
        var offset: Int64 = 0
        var (before, decided): (Int64, Int) = (0, 0)
        // Nothing is answered for half a minute, so that it is to come back.
        for second in 0..<600 {
            if second == 360 { (before, decided) = (offset, 0) }
            for _ in 0..<10 {
                for _ in 0..<10 where bench.core.submissions.limit.isDemanding {
                    bench.ask(try #require(bench.read(offset, in: assignment).first))
                    offset += 1
                }
                bench.wait(.milliseconds(100))
                for attempt in bench.takeAttempts() {
                    let hasFailed = second < 30 || Int.random(in: 0..<10, using: &generator) < tenths
                    underWay.append((attempt, hasFailed, bench.now + .milliseconds(200)))
                }
                for call in underWay where call.end <= bench.now {
                    if call.hasFailed {
                        bench.attempted(call.attempt, .concluded(.retry(.noAnswer, notBefore: nil)), .overloaded)
                    } else {
                        let verdict = Verdict.rejected(Rejection(.receiptNotAuthentic, "21003"))
                        bench.attempted(call.attempt, .concluded(verdict))
                        decided += 1
                    }
                }
                underWay.removeAll { $0.end <= bench.now }
                for batch in bench.takeWrites() { Self.write(batch, bench) }
            }
        }
        #expect(offset - before == 100 * 240, "all that came")
        #expect(decided >= least * 240)
    }

    @Test("where retries have no room for more, submissions wait here and reading stops")
    func noRoom() throws {
        let app = LedgerMeasure.App(bundleID: Fixture.app, rows: 9, bytes: 4 << 30)
        bench.measure = LedgerMeasure(retries: [app], waiting: [], outboxRows: 0, outboxAge: 0)
        let assignment = try bench.own()
        #expect(bench.takeAlerts().contains(.retriesFull(bytes: 4 << 30, limit: 4 << 30)))
        try open(in: assignment)
        for offset in 1000..<Int64(1020) { try read(offset, in: assignment) }
        #expect(writeAll().isEmpty)
        #expect(bench.core.inFlight >= 20)
        let delivered = bench.core.submissions.limit.demand.records
        bench.wait(.seconds(20))
        #expect(bench.core.submissions.limit.demand.records == delivered)
        #expect(bench.core.status.readingStop == .retriesFull)
        _ = bench.takeAlerts()
        bench.wait(.seconds(600))
        #expect(bench.takeAlerts().contains(.retriesFull(bytes: 4 << 30, limit: 4 << 30)), "it lasts")
    }

    @Test(
        "what waits for room in retries is asked about once its endpoint is back, although they are still full",
        arguments: [0, 8])
    func backWithoutRoom(failing: Int) throws {
        let app = LedgerMeasure.App(bundleID: Fixture.app, rows: 9, bytes: 4 << 30)
        bench.measure = LedgerMeasure(retries: [app], waiting: [], outboxRows: 0, outboxAge: 0)
        let assignment = try bench.own()
        try open(in: assignment)
        for offset in 1000..<Int64(1020) { try read(offset, in: assignment) }
        #expect(writeAll().isEmpty)
        var (asked, answered, checkedAnew) = (0, 0, 0)
        for _ in 0..<400 where bench.core.submissions.isUnanswered {
            bench.wait(.milliseconds(500))
            for check in bench.takeChecks() {
                bench.ask(check)
                checkedAnew += 1
            }
            for attempt in bench.takeAttempts() {
                asked += 1
                // The first probes still fail.
                guard asked > failing else {
                    bench.attempted(
                        attempt, .concluded(.retry(.unreachable, notBefore: nil)), .failed, fault: "HTTP 503")
                    continue
                }
                bench.attempted(attempt, .concluded(.rejected(Rejection(.receiptNotAuthentic, "21003"))))
                answered += 1
            }
            #expect(writeAll().allSatisfy { if case .wait = $0.content { false } else { true } })
        }
        let isUnanswered = bench.core.submissions.isUnanswered
        #expect(!isUnanswered, "\(bench.core.inFlight)")
        #expect(answered >= 20)
        #expect(checkedAnew >= 17, "by the rules of now")
    }

    @Test("follow-up calls leave for retries with a long pause, and their attempts begin anew from there")
    func followUps() throws {
        let assignment = try bench.own()
        func hop(_ offset: Int64) throws {
            try read(offset, in: assignment)
            let attempt = try #require(bench.takeAttempts().first)
            bench.attempted(attempt, .next(Fixture.question(Fixture.sandbox)))
        }
        try hop(0)
        let limited = Verdict.retry(.rateLimited, notBefore: bench.wall.advanced(by: .seconds(900)))
        bench.attempted(
            try #require(bench.takeAttempts().first), .concluded(limited), .limited(wait: .seconds(900)))
        _ = writeAll()
        for offset in 1..<Int64(21) { try hop(offset) }
        let entries = writeAll().compactMap { if case .wait(let entry) = $0.content { entry } else { nil } }
        #expect(entries.map(\.cause) == Array(repeating: .retrying(.endpointUnavailable, Fixture.sandbox), count: 17))
        #expect(bench.core.inFlight == 3, "the probes")
    }
}

extension Submissions {
    fileprivate var isUnanswered: Bool { isBusy([.awaitingRoom, .waiting, .repeating]) }
}
