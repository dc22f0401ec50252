import AppStore
import AppStoreSimulator
import Ledger
import Purchases
import Testing

@testable import Fulfillment

/// A pipeline on a clock of its own, and when Apple was called.
private struct OutageBench {
    static let inFlight = 16
    static let window = 64

    let clock: VirtualClock
    let calls = Shared([Duration]())
    let bench: PipelineBench

    init(clock: VirtualClock, bench: PipelineBench) {
        self.clock = clock
        self.bench = bench
    }

    /// - Parameter instead: what comes at a moment instead of an answer; an answer takes a quarter of a second.
    init(_ instead: @escaping @Sendable (_ elapsed: Duration) -> AppStoreReply?) async throws {
        clock = VirtualClock()
        bench = try await PipelineBench(
            configuration: PipelineConfiguration(maxInFlight: Self.inFlight), clock: clock,
            weather: Weather { [clock, calls] in
                let elapsed = clock.elapsed()
                calls.change { $0.append(elapsed) }
                if let reply = instead(elapsed) { return reply }
                // Only cancellation cuts it short, and then nobody is interested in the answer.
                do { try await clock.sleep(for: .milliseconds(250)) } catch { return .failed(.cancelled) }
                return nil
            })
    }

    func calls(from start: Duration, to end: Duration) -> Int { calls.value.count { $0 >= start && $0 < end } }

    func submit(_ count: Int) throws {
        bench.source.write(
            try (0..<count).map { PipelineBench.message("s-\($0)", receipt: try bench.appStore.receipt().base64) })
    }

    /// Runs until a condition holds, while time goes on whenever nothing moves.
    func run(until condition: @escaping @Sendable (PipelineBench, Duration) async throws -> Bool) async throws {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await bench.pipeline.run()
                return true
            }
            group.addTask {
                while try await !condition(bench, clock.elapsed()), !Task.isCancelled { await clock.step() }
                bench.pipeline.stop()
                while !Task.isCancelled { await clock.step() }
                return false
            }
            while let isEnd = try await group.next(), !isEnd {}
            group.cancelAll()
        }
    }
}

@Suite("An outage, through the pipeline", .timeLimit(.minutes(2)))
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
        let key = ServerAPIKey()
        let other = RegisteredApp(
            app: App(bundleID: "com.example.other"), sharedSecrets: [],
            serverAPI: try ServerAPICredentials(
                issuerID: key.issuerID, keyID: key.keyID, privateKeyPEM: key.privateKeyPEM))
        let clock = VirtualClock()
        let bench = try await PipelineBench(
            configuration: PipelineConfiguration(maxInFlight: 16), clock: clock,
            weather: Weather(insteadOfLookup: { _ in reply }), others: [other])
        // Fewer of the other app's than the window holds: what waits for its key has no other place yet.
        var messages: [[UInt8]?] = []
        for index in 0..<400 {
            messages.append(PipelineBench.message("s-\(index)", receipt: try bench.appStore.receipt().base64))
            guard index < 40 else { continue }
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
