import AppStore
import AppStoreSimulator
import Ledger
import Purchases
import Testing

@testable import Fulfillment

@Suite("An outage, through the pipeline", .timeLimit(.minutes(5)))
struct OutageTests {
    private static let start = Duration.seconds(5)
    private static let end = start + .seconds(1800)

    @Test(
        "half an hour without Apple costs probes, counts no attempts, fails nobody, and everything is granted after it",
        arguments: [AppStoreReply.failed(.unreachable), .response(httpStatus: 503, retryAfter: nil, body: [])])
    func outage(reply: AppStoreReply) async throws {
        let outage = try await OutageBench { $0 >= Self.start && $0 < Self.end ? reply : nil }
        try outage.submit(1000)
        let health = Shared((isAway: false, mostHeld: 0))
        try await outage.run { bench, _ in
            let status = bench.pipeline.status
            health.change {
                $0.isAway = $0.isAway || status.appleIsAway
                $0.mostHeld = max($0.mostHeld, status.heldSubmissions)
            }
            return status.settledRecords == 1000
        }
        let counts = try await outage.bench.ledger.counts()
        #expect(counts.grants == 1000)
        #expect(counts.failures.isEmpty)
        #expect(outage.bench.source.committed == 1000)
        #expect(health.value.isAway)
        #expect(health.value.mostHeld <= OutageBench.window)
        let probes = outage.calls(from: Self.start + .seconds(5), to: Self.end)
        #expect(probes > 100 && probes < 500, "\(probes) calls in half an hour")
        #expect(outage.bench.flaky.attemptsOfSettlements.reduce(0, +) < 1000 + probes + 2 * OutageBench.window)
        // What was left is behind a pause of 15 s at most and a ramp of 6 s.
        #expect(outage.clock.elapsed() < Self.end + .seconds(300))
    }

    @Test("at full load, half an hour without Apple parks nothing, and the backlog then drains at the usual pace")
    func backlog() async throws {
        let outage = try await OutageBench { $0 >= .seconds(10) && $0 < .seconds(1810) ? .failed(.unreachable) : nil }
        let submissions = 2500
        try outage.submitCheaply(submissions)
        struct Sample {
            let elapsed: Duration
            let settled: Int
        }
        let samples = Shared((all: [Sample](), mostHeld: 0))
        try await outage.run { bench, elapsed in
            let status = bench.pipeline.status
            samples.change {
                $0.all.append(Sample(elapsed: elapsed, settled: status.settledRecords))
                $0.mostHeld = max($0.mostHeld, status.heldSubmissions)
            }
            return status.settledRecords == submissions
        }
        func settled(by moment: Duration) -> Int { samples.value.all.last { $0.elapsed <= moment }?.settled ?? 0 }
        let usual = Double(settled(by: .seconds(9)) - settled(by: .seconds(2))) / 7
        let before = settled(by: .seconds(1790))
        // A pause of 15 s at most, and a ramp of 6 s.
        let back = try #require(samples.value.all.first { $0.settled > before }).elapsed
        #expect(back < .seconds(1810 + 16))
        let full = back + .seconds(10)
        // The last ones wait out delays that grew in the outage, and are no measure of the pace.
        let most = submissions * 19 / 20
        let end = try #require(samples.value.all.first { $0.settled >= most }).elapsed
        let drained = Double(most - settled(by: full)) / ((end - full) / .seconds(1))
        #expect(drained >= 0.8 * usual, "\(drained) a second, usually \(usual)")

        let counts = try await outage.bench.ledger.counts()
        #expect(counts.submissions == [.granted: submissions], "nothing was parked, failed or lost")
        #expect(samples.value.mostHeld <= OutageBench.window)
        #expect(outage.bench.appStore.peak <= OutageBench.inFlight)
        let bySecond = Dictionary(grouping: outage.calls.value.filter { $0 >= .seconds(1810) }) {
            $0.components.seconds
        }
        let busiest = bySecond.values.map(\.count).max() ?? 0
        // As many as fit in: each place gives four answers a second.
        #expect(busiest <= OutageBench.inFlight * 4 + OutageBench.inFlight, "\(busiest) calls in a second")
    }

    @Test("a pause that Apple asks for is kept by everybody")
    func pause() async throws {
        let outage = try await OutageBench { elapsed in
            elapsed >= .seconds(2) && elapsed < .seconds(3)
                ? .response(httpStatus: 429, retryAfter: "30", body: []) : nil
        }
        try outage.submit(400)
        try await outage.run { bench, _ in bench.pipeline.status.settledRecords == 400 }
        #expect(outage.calls(from: .seconds(2.5), to: .seconds(32)) == 0)
        #expect(try await outage.bench.ledger.counts().grants == 400)
    }

    @Test("while the ledger is away no call is spent on what it could not take, and then all goes on")
    func ledgerAway() async throws {
        let outage = try await OutageBench { _ in nil }
        try outage.submit(300)
        let during = Shared((failed: false, from: Duration.zero, to: Duration.zero))
        try await outage.run { bench, elapsed in
            let status = bench.pipeline.status
            if status.settledRecords > 50, !during.value.failed {
                bench.flaky.fail(before: 12, after: 0)
                during.change { $0.failed = true }
            }
            if !status.ledgerAnswers {
                during.change {
                    if $0.from == .zero { $0.from = elapsed }
                    $0.to = elapsed
                }
            }
            return status.settledRecords == 300
        }
        let (_, from, to) = during.value
        #expect(to - from > .seconds(10), "the ledger was away for a while")
        let calls = outage.calls(from: from + .milliseconds(1), to: to)
        #expect(calls <= OutageBench.inFlight, "\(calls) calls while the ledger was away")
        #expect(try await outage.bench.ledger.counts().grants == 300)
    }

    @Test("what waits for the ledger goes on within seconds of its return, however long it was away")
    func ledgerBack() async throws {
        let outage = try await OutageBench { _ in nil }
        try outage.submit(300)
        let back = Duration.seconds(600)
        let moments = Shared((fails: false, answers: Duration?.none, end: Duration.zero))
        try await outage.run { bench, elapsed in
            let status = bench.pipeline.status
            if elapsed < back {
                if status.settledRecords > 50 { bench.flaky.fail(before: .max, after: 0) }
                return false
            }
            bench.flaky.fail(before: 0, after: 0)
            moments.change {
                if status.settledRecords > 50, status.ledgerAnswers { $0.answers = $0.answers ?? elapsed }
                $0.end = elapsed
            }
            let counts = try await bench.ledger.counts()
            return counts.grants == 300 && counts.unpublished == 0
        }
        #expect(try #require(moments.value.answers) - back <= .seconds(5))
        #expect(moments.value.end - back < .seconds(10), "\(moments.value.end)")
    }

    @Test("a stop in the middle of an outage ends at once and leaves the rest for the next start")
    func stop() async throws {
        let outage = try await OutageBench { $0 >= .seconds(2) ? .failed(.timedOut) : nil }
        try outage.submit(300)
        let stopped = Shared(Duration.zero)
        try await outage.run { bench, elapsed in
            stopped.change { $0 = elapsed }
            return elapsed > .seconds(60) && bench.pipeline.status.waitingForApple > 0
        }
        #expect(outage.clock.elapsed() - stopped.value < .seconds(10))
        #expect(outage.bench.source.isClosed)
        let counts = try await outage.bench.ledger.counts()
        #expect(counts.failures.isEmpty)
        #expect(counts.unpublished == 0)
        #expect(Int64(counts.grants) >= outage.bench.source.committed ?? 0)
    }

    private static func reply(_ status: Int) -> AppStoreReply {
        .response(httpStatus: status, retryAfter: nil, body: [])
    }

    @Test(
        "one app's refused key, limit or outage at the App Store Server API does not hold another app's purchases up",
        arguments: [reply(401), reply(429), reply(500), .failed(.timedOut)])
    func oneApp(reply: AppStoreReply) async throws {
        let other = try RegisteredApp.withKey(App(bundleID: "com.example.other"))
        let clock = VirtualClock()
        let bench = try await PipelineBench(
            configuration: PipelineConfiguration(maxInFlight: 16), clock: clock,
            weather: Weather(insteadOfLookup: { _ in reply }), others: [other])
        var messages: [[UInt8]?] = []
        for index in 0..<400 {
            messages.append(PipelineBench.message("s-\(index)", receipt: try bench.appStore.receipt().base64))
            guard index < 100 else { continue }
            let text =
                #"{"submissionId":"o-\#(index)","userId":"u","bundleId":"com.example.other","transactionId":"9\#(index)"}"#
            messages.append(Array(text.utf8))
        }
        bench.source.write(messages)
        let outage = OutageBench(clock: clock, bench: bench)
        try await outage.run { bench, _ in try await bench.ledger.counts().grants == 400 }
        #expect(clock.elapsed() < .seconds(120), "nobody waited for the other app")
        #expect(try await bench.ledger.counts().failures.isEmpty)
        #expect(!bench.pipeline.status.appleIsAway)
    }
}
