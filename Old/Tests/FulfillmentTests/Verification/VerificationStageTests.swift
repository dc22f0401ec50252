import Ledger
import Logging
import Purchases
import Testing

@testable import Fulfillment

@Suite("Verification, as a stage")
struct VerificationStageTests {
    private let bench: VerifierBench
    private let parts: PipelineParts

    init() throws {
        bench = try VerifierBench()
        var configuration = PipelineConfiguration(maxInFlight: 1)
        // Longer than a test waits for anything.
        configuration.stopLimit = .seconds(100_000)
        parts = PipelineParts(
            configuration: configuration, clock: FastClock(), randomness: FixedRandomness(),
            metrics: PipelineMetrics(), logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            stopping: Signal(), window: WindowGate(Window(maxCount: 10, maxBytes: 1 << 20)), ledgerAnswers: Flag(true),
            apple: bench.apple, progress: ProgressTracker())
    }

    private var stage: VerificationStage { VerificationStage(parts: parts, verifier: bench.verifier) }

    @Test("ends when nothing more is admitted and the last first try has settled")
    func ends() async {
        parts.admitted.put([bench.admitted, bench.admitted])
        parts.admitted.finish()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await stage.run() }
            for _ in 0..<2 {
                while bench.appStore.open == 0 { await Task.yield() }
                bench.appStore.answer(bench.isAuthentic)
            }
        }
        #expect(parts.settled.count == 2)
    }

    @Test("cancelled, it sends away who is in line, makes no more calls, and lets what is under way answer for nothing")
    func cancelled() async {
        parts.admitted.put([bench.admitted, bench.admitted, bench.admitted])
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await stage.run() }
            while bench.appStore.open < 1 || bench.apple.status.waiting < 2 { await Task.yield() }
            group.cancelAll()
        }
        #expect(bench.apple.status.waiting == 0)
        bench.appStore.answer(bench.isAuthentic)
        #expect(bench.appStore.asked.count == 1)
        #expect(bench.apple.status.inFlight == 0)
        #expect(parts.settled.count == 0)
    }

    @Test("told to stop, it waits for what is under way and begins nothing else")
    func stopped() async {
        parts.admitted.put([bench.admitted, bench.admitted])
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await stage.run() }
            while bench.appStore.open < 1 || bench.apple.status.waiting < 1 { await Task.yield() }
            parts.stopping.raise()
            parts.admitted.finish()
            while bench.apple.status.waiting > 0 { await Task.yield() }
            bench.appStore.answer(bench.isAuthentic)
        }
        #expect(bench.appStore.asked.count == 1)
        #expect(parts.settled.count == 1)
    }
}
