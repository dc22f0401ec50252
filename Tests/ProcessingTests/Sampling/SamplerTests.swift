import Contract
import Ledger
import Scheduling
import Testing

@testable import Processing

@Suite("Samples of the ledger")
final class SamplerTests {
    private var turn = Turn(seed: 1)
    private var gates = GateTable(most: 100, mostCalls: 30)
    private var sampler = Sampler(WorkerSign(id: 1, name: "w", version: "1"))

    private func measure(outboxRows: Int = 0, held: [LedgerMeasure.Held] = [], later: Int = 0) -> LedgerMeasure {
        LedgerMeasure(retries: [], waiting: [], held: held, outboxRows: outboxRows, outboxAge: 0, later: later)
    }

    /// Takes a sample, if one is due.
    /// - Returns: whether one was.
    private func sample(_ measure: LedgerMeasure) -> Bool {
        guard sampler.take(isExhausted: false, &turn) else { return false }
        turn.endCalls()
        sampler.taken(measure, isIdle: true, &turn)
        return true
    }

    @Test("begin with the first partitions")
    func first() {
        #expect(!result { sample(measure()) })
        sampler.begin(at: turn.now)
        #expect(result { sample(measure()) })
        sampler.begin(at: turn.now)
        #expect(!result { sample(measure()) })
    }

    @Test("come every ten seconds, and down to twice a minute while nothing happens")
    func pauses() {
        sampler.begin(at: turn.now)
        var pauses: [Duration] = []
        for _ in 0..<4 {
            _ = sample(measure())
            pauses.append(sampler.pause)
            turn.wait(sampler.pause)
        }
        #expect(pauses == [.seconds(10), .seconds(20), .seconds(30), .seconds(30)])
        _ = sample(measure(outboxRows: 1))
        #expect(sampler.pause == .seconds(10))
    }

    @Test("come soon after rows that this worker added to retries, and sooner once its share is used")
    func soon() {
        sampler.begin(at: turn.now)
        for _ in 0..<3 {
            _ = sample(measure())
            turn.wait(sampler.pause)
        }
        _ = sample(measure())
        sampler.sampleSoon()
        #expect(result { sampler.nextMoment(turn) } == turn.now + .seconds(10))
        #expect(!result { sampler.take(isExhausted: true, &turn) })
        turn.wait(.seconds(1))
        #expect(result { sampler.take(isExhausted: true, &turn) })
    }

    @Test("remind of what lasts every ten minutes, tell its end, and remind at once where it has ended meanwhile")
    func reminders() {
        let held = measure(held: [LedgerMeasure.Held(Fixture.app, .sharedSecretRefused, rows: 1, ["gems"])], later: 1)
        func remind(_ measure: LedgerMeasure) -> Int {
            sampler.remind(of: measure, RetryBytesLimit(limit: 1), isOutboxFull: false, &gates, &turn)
            defer { turn.actions.alerts = [] }
            return turn.actions.alerts.count
        }
        #expect(result { remind(held) } == 2)
        turn.wait(.seconds(599))
        #expect(result { remind(held) } == 0)
        turn.wait(.seconds(1))
        #expect(result { remind(held) } == 2)
        #expect(result { remind(measure()) } == 2)
        #expect(result { remind(measure()) } == 0)
        #expect(result { remind(held) } == 2)
    }

    /// At a bound each sample may say something else.
    @Test("tell of tables without room once while they fill and drain, and of their room after a minute with it")
    func flapping() {
        func remind(isFull: Bool) -> [Alert] {
            var retries = RetryBytesLimit(limit: 1)
            let app = LedgerMeasure.App(bundleID: Fixture.app, rows: 1, bytes: isFull ? 1 : 0)
            _ = retries.sampled(LedgerMeasure(retries: [app], waiting: [], outboxRows: 0, outboxAge: 0))
            sampler.remind(of: measure(), retries, isOutboxFull: isFull, &gates, &turn)
            defer { turn.actions.alerts = [] }
            return turn.actions.alerts
        }
        let told = result { remind(isFull: true) }
        #expect(told == [.retriesFull(bytes: 1, limit: 1), .outboxFull])
        for isFull in [false, true, false, true] {
            turn.wait(.seconds(10))
            let news = result { remind(isFull: isFull) }
            #expect(news.isEmpty)
        }
        turn.wait(.seconds(50))
        let early = result { remind(isFull: false) }
        #expect(early.isEmpty)
        turn.wait(.seconds(10))
        let over = result { remind(isFull: false) }
        #expect(over == [.retriesHaveRoom(after: .seconds(100)), .outboxHasRoom(after: .seconds(100))])
    }

    @Test("tell what was held before the start once, with its number and age, and remind of it ten minutes later")
    func heldAtStart() {
        let since = Timestamp(milliseconds: 1000)
        let groups = ["a": 2, "b": 3].map { detail, rows in
            LedgerMeasure.Held(
                BundleID("com.example.\(detail)"), .sharedSecretRefused, rows: rows, [detail], oldest: since)
        }
        let sample = LedgerMeasure(
            retries: [.init(bundleID: Fixture.app, rows: 6, bytes: 1)], waiting: [], held: groups, outboxRows: 0,
            outboxAge: 0, takenAt: since.advanced(by: .seconds(60)))
        func told() -> [Alert] {
            sampler.remind(of: sample, RetryBytesLimit(limit: 1), isOutboxFull: false, &gates, &turn)
            defer { turn.actions.alerts = [] }
            return turn.actions.alerts
        }
        sampler.taken(sample, isIdle: true, &turn)
        let first = told()
        #expect(first == [.waitingAtStart(6, held: 5, oldest: .seconds(60))])
        turn.wait(.seconds(600))
        let later = told()
        #expect(later.count == 2)
    }
}
