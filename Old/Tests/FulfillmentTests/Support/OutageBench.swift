import AppStore
import Fulfillment
import Ledger
import Purchases

/// A pipeline on a clock of its own, and when Apple was called.
struct OutageBench {
    static let inFlight = 16
    static let window = 64
    /// How long an answer takes.
    static let answerTime = Duration.milliseconds(250)

    let clock: VirtualClock
    let calls = Shared([Duration]())
    let bench: PipelineBench

    init(clock: VirtualClock, bench: PipelineBench) {
        self.clock = clock
        self.bench = bench
    }

    /// - Parameters:
    ///   - app: the app, with what is configured for it.
    ///   - answer: what becomes of a call, by its moment and its number.
    ///   - lookup: what comes at a moment instead of an answer of the App Store Server API.
    init(
        inFlight: Int = OutageBench.inFlight, retry: RetryPolicy = RetryPolicy(),
        app: (App) throws -> RegisteredApp = { RegisteredApp(app: $0, sharedSecrets: []) },
        lookup: @escaping @Sendable (_ elapsed: Duration) -> AppStoreReply? = { _ in nil },
        answer: @escaping @Sendable (_ elapsed: Duration, _ call: Int) -> Answer = { _, _ in .usual }
    ) async throws {
        clock = VirtualClock()
        bench = try await PipelineBench(
            configuration: PipelineConfiguration(maxInFlight: inFlight, retry: retry), clock: clock,
            weather: Weather(
                instead: { [clock, calls] in
                    let elapsed = clock.elapsed()
                    var call = 0
                    calls.change {
                        $0.append(elapsed)
                        call = $0.count
                    }
                    let what = answer(elapsed, call)
                    if case .reply(let reply) = what { return reply }
                    // Only cancellation cuts it short, and then nobody is interested in the answer.
                    do { try await clock.sleep(for: what.time) } catch { return .failed(.cancelled) }
                    return nil
                },
                insteadOfLookup: { [clock, calls] _ in
                    let elapsed = clock.elapsed()
                    calls.change { $0.append(elapsed) }
                    return lookup(elapsed)
                }), app: app)
    }

    /// A bench on which Apple's replies depend on the moment alone.
    init(_ instead: @escaping @Sendable (_ elapsed: Duration) -> AppStoreReply?) async throws {
        try await self.init(answer: { elapsed, _ in instead(elapsed).map(Answer.reply) ?? .usual })
    }

    /// What Apple does with a call.
    enum Answer {
        case usual
        /// The usual answer, after so long.
        case slow(Duration)
        /// At once.
        case reply(AppStoreReply)

        var time: Duration {
            if case .slow(let time) = self { time } else { OutageBench.answerTime }
        }
    }

    func calls(from start: Duration, to end: Duration) -> Int { calls.value.count { $0 >= start && $0 < end } }

    func submit(from first: Int = 0, _ count: Int) throws {
        bench.source.write(
            try (first..<first + count).map {
                PipelineBench.message("s-\($0)", receipt: try bench.appStore.receipt().base64)
            })
    }

    /// Submissions that share a few purchases: many, at a low price.
    func submitCheaply(_ count: Int) throws {
        let receipts = try (0..<min(count, 50)).map { _ in try bench.appStore.receipt().base64 }
        bench.source.write((0..<count).map { PipelineBench.message("s-\($0)", receipt: receipts[$0 % receipts.count]) })
    }

    /// Runs until a condition holds, while time goes on whenever nothing moves. It is looked at when nothing does.
    func run(until condition: @escaping @Sendable (PipelineBench, Duration) async throws -> Bool) async throws {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask(executorPreference: clock.executor) {
                try await bench.pipeline.run()
                return true
            }
            group.addTask {
                await clock.stillness()
                while try await !condition(bench, clock.elapsed()), !Task.isCancelled {
                    await clock.step()
                    await clock.stillness()
                }
                bench.pipeline.stop()
                while !Task.isCancelled { await clock.step() }
                return false
            }
            while let isEnd = try await group.next(), !isEnd {}
            group.cancelAll()
        }
    }

    /// Runs until so many submissions have a final outcome, and tells when that was.
    func run(untilDecided count: Int) async throws -> Duration {
        let moment = Shared(Duration.zero)
        try await run { bench, elapsed in
            moment.change { $0 = elapsed }
            guard bench.pipeline.status.settledRecords >= count else { return false }
            let counts = try await bench.ledger.counts()
            return (counts.submissions[.granted] ?? 0) + (counts.submissions[.failed] ?? 0) >= count
        }
        return moment.value
    }
}
