import AppStoreSimulator
import Ledger
import Purchases
import SystemTesting
import Testing

extension IntegrationTests {
    @Suite("Every kind of trouble with Apple's answers, one after the other")
    struct TroubleTests {
        static let inFlight = 100
        static let perPhase = 80

        /// How Apple behaves for a while.
        private struct Phase {
            let behaviour: Behaviour
            let lasts: Duration
        }

        private static func share(_ share: Double, _ fault: Fault) -> Behaviour {
            Behaviour(latency: .fixed(milliseconds: 50), faults: [Behaviour.Share(share, fault)])
        }

        private static let fine = Behaviour(latency: .fixed(milliseconds: 50))
        private static let down = Behaviour(outage: .unavailable)

        private static let phases: [Phase] =
            [
                Phase(behaviour: share(0.2, .status(code: 21005)), lasts: .seconds(4)),
                Phase(behaviour: share(0.3, .status(code: 21002)), lasts: .seconds(3)),
                Phase(behaviour: share(1, .rateLimited(retryAfter: "2")), lasts: .seconds(1)),
                // 40 bytes a second: longer than the worker waits.
                Phase(behaviour: share(0.2, .drip(bytes: 4, everyMilliseconds: 100)), lasts: .seconds(3)),
            ]
            + (0..<3).flatMap { _ in
                [Phase(behaviour: fine, lasts: .seconds(2)), Phase(behaviour: down, lasts: .seconds(2))]
            }

        @Test("All of it ends granted, and the calls that Apple counts stay within the budget")
        func all() async throws {
            let folder = try TemporaryFolder()
            let stage = try await Stage(
                folder, broker: MockBroker.start(in: folder.url),
                environment: ["GRANTOR_MAX_IN_FLIGHT": "\(Self.inFlight)", "GRANTOR_APPLE_TIMEOUT": "3s"])
            let answers = try Answers(from: stage.broker)
            let submitting = try Submitting(to: stage.broker)
            let worker = try await stage.startWorker().ready()
            var player = Player(stage.apple)
            let start = ContinuousClock.now

            var played: [Played] = []
            for phase in Self.phases {
                stage.apple.simulator.behave(phase.behaviour)
                let next = try (0..<Self.perPhase).map { index in
                    switch index % 10 {
                    // Apple shows the purchase late.
                    case 0: try player.consumable(after: Array(repeating: .withoutPurchases, count: 3))
                    // A real receipt is called malformed, for longer than it is tried in memory.
                    case 1: try player.consumable(after: Array(repeating: .status(code: 21002), count: 5))
                    case 2: try player.consumable(after: [.html, .truncated, .empty])
                    default: try player.consumables(1)[0]
                    }
                }
                try await submitting.submit(next)
                played += next
                // The trouble's length is what is tested; nothing is waited for.
                try await Task.sleep(for: phase.lasts)
            }
            stage.apple.simulator.behave(Self.fine)

            do {
                try await stage.settled(played.count, within: .seconds(120))
            } catch let missed as DeadlineMissed {
                let metrics = try await worker.get("/metrics")?.text.split(separator: "\n").filter {
                    !$0.hasPrefix("#") && !$0.hasSuffix(" 0") && !$0.contains("bucket")
                }
                try worker.process.checkAlive()
                throw DeadlineMissed(description: "\(missed), \(metrics ?? []), \(worker.text.suffix(2000))")
            }
            let seconds = (ContinuousClock.now - start) / .seconds(1)
            let answered = try await answers.await("every answer is on the topics", within: .seconds(60)) {
                $0.missing(played).isEmpty
            }
            #expect(answered.failures.isEmpty)
            try await Judgement.expectRight(played, answered, stage)

            let calls = stage.apple.simulator.statistics().production.calls
            // First tries and a tenth of them; a burst at the start and each second; probes beside that.
            let burst = Double(Self.inFlight) / 4
            let budget = Double(played.count) * 1.1 + burst * (1 + seconds) + 4 * seconds
            #expect(Double(calls) <= budget, "\(calls) calls within \(seconds) s")
            #expect(stage.apple.simulator.statistics().inFlightPeak <= Self.inFlight)
            #expect(try await worker.stop() == .code(0))
            await submitting.close()
            try await answers.close()
            try await stage.close()
        }
    }
}
