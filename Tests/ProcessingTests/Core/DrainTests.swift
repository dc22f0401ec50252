import Contract
import Ledger
import Scheduling
import Testing

@testable import Processing

/// A core's work in a given time, with a ledger full of rows, an Apple that replies after 100 ms, and checkers.
private final class Drain {
    private static let step: Duration = .milliseconds(1)

    let bench: CoreBench
    private var rows: [DueRetry]
    private var coming: [(due: Instant, input: Input)] = []
    private(set) var asked = 0
    private(set) var decided = 0
    private(set) var mostUnderWay = 0
    private var underWay = 0

    init(rows: [DueRetry], settings: CoreSettings = CoreSettings()) throws {
        bench = CoreBench(settings: settings)
        self.rows = rows.reversed()
        bench.measure = LedgerMeasure(
            retries: [], waiting: [.init(endpoint: Fixture.verifyReceipt, rows: rows.count)], outboxRows: 0,
            outboxAge: 0)
        bench.isNothingDue = false
        try bench.own()
    }

    func run(_ time: Duration) {
        let end = bench.now + time
        while bench.now < end {
            bench.wait(Self.step)
            let now = bench.now
            let due = coming.filter { $0.due <= now }
            coming.removeAll { $0.due <= now }
            for (_, input) in due {
                if case .attempted = input { underWay -= 1 }
                bench.send(input)
            }
            carryOut()
        }
    }

    private func after(_ milliseconds: Int, _ input: Input) {
        coming.append((bench.now + .milliseconds(milliseconds), input))
    }

    private func carryOut() {
        for check in bench.takeChecks() {
            guard case .submission(let submission) = check.work else { continue }
            let ask = LocalCheck.ask(Fixture.question(), lookUp: nil, isSigned: nil)
            after(
                1, .checked([Checked(token: check.token, result: .submission(submission, DecisionOptions(), ask))]))
        }
        for attempt in bench.takeAttempts() {
            asked += 1
            underWay += 1
            mostUnderWay = max(mostUnderWay, underWay)
            let result = AttemptResult.concluded(.rejected(Rejection(.receiptNotAuthentic, "21003")))
            after(
                100,
                .attempted([
                    Attempted(token: attempt.token, result: result, outcome: .replied, took: .milliseconds(100))
                ]))
        }
        for batch in bench.takeWrites() {
            decided += batch.decisions.count
            let failed = DecisionResult.written(.failed(reason: "receipt_not_authentic"), publish: [])
            after(5, .written(batch.id, .success(batch.decisions.map { _ in failed })))
        }
        while let (id, call) = bench.takeRequest({ $0 }) {
            switch call {
            case .takeDue(let requests, var bytes):
                let most = requests.filter { $0.endpoint == Fixture.verifyReceipt }.reduce(0) { $0 + $1.limit }
                var taken: [DueRetry] = []
                while taken.count < most, bytes > 0, let row = rows.popLast() {
                    taken.append(row)
                    bytes -= row.submission.retainedBytes
                }
                after(5, .ledger(id, .success(.due(taken))))
            case .takeOutbox: after(1, .ledger(id, .success(.outbox([]))))
            case .renew(let leases): after(1, .ledger(id, .success(.renewed(leases.map { _ in true }))))
            default: after(1, .ledger(id, .success(.done)))
            }
        }
    }
}

@Suite("Rows that wait while Apple answers again")
struct DrainTests {
    private func rows(_ count: Int, attempts: Int) -> [DueRetry] {
        (0..<Int64(count)).map { Fixture.due($0, attempts: attempts) }
    }

    @Test("are asked about by the thousand a second where they never were: they are first attempts")
    func neverAsked() throws {
        let drain = try Drain(rows: rows(10_000, attempts: 0))
        drain.run(.seconds(3))
        #expect(drain.decided == 10_000)
        #expect(drain.mostUnderWay <= CoreSettings().callsPerEndpoint)
    }

    @Test("are asked about without a pause where few of them fill the bytes that are theirs")
    func large() throws {
        var settings = CoreSettings()
        let row = try #require(rows(1, attempts: 0).first)
        settings.inFlightBytes = Int64(row.submission.retainedBytes) * 100 * 8
        let drain = try Drain(rows: rows(2_000, attempts: 0), settings: settings)
        drain.run(.seconds(5))
        #expect(drain.decided == 2_000)
    }

    @Test("are asked about within the budget of retries where Apple was asked before")
    func asked() throws {
        let drain = try Drain(rows: rows(10_000, attempts: 2))
        drain.run(.seconds(3))
        #expect((700...1050).contains(drain.asked))
    }

    @Test("that were asked about before do not keep back the others")
    func mixed() throws {
        let mixed = zip(rows(5_000, attempts: 0), (10_000..<Int64(10_100)).map { Fixture.due($0, attempts: 2) })
        let all = mixed.flatMap { [$0, $1] } + rows(5_000, attempts: 0).dropFirst(100)
        let drain = try Drain(rows: all)
        drain.run(.seconds(3))
        #expect(drain.decided == 5_100)
    }
}
