import AppStoreSimulator
import Ledger
import Purchases
import SystemTesting
import Testing

extension IntegrationTests {
    @Suite("What a worker tells of itself in trouble")
    struct MetricsTests {
        /// A metric's series as the worker shows them.
        private struct Shown {
            private let lines: [Substring]

            init(_ text: String) { lines = text.split(separator: "\n").filter { !$0.hasPrefix("#") } }

            /// The sum of all series of a name that have these labels; nil if there is none.
            func value(_ name: String, _ labels: String...) -> Double? {
                let found = lines.filter { line in
                    line.prefix { $0 != "{" && $0 != " " } == name && labels.allSatisfy { line.contains($0) }
                }
                guard !found.isEmpty else { return nil }
                return found.compactMap { $0.split(separator: " ").last.flatMap { Double($0) } }.reduce(0, +)
            }
        }

        private func shown(
            _ worker: WorkerProcess, _ what: String, until holds: (Shown) -> Bool
        ) async throws -> Shown {
            var last = ""
            do {
                return try await eventually(what, within: .seconds(45)) {
                    try worker.process.checkAlive()
                    guard let answer = try await worker.get("/metrics") else { return nil }
                    last = answer.text
                    let shown = Shown(answer.text)
                    return holds(shown) ? shown : nil
                }
            } catch let missed as DeadlineMissed {
                throw DeadlineMissed(description: "\(missed) in \(last)")
            }
        }

        private static let apple = (#"service="verifyReceipt""#, #"environment="production""#)

        @Test("Breakers, window, ages, what waits and the outbox are shown as they are")
        func trouble() async throws {
            let folder = try TemporaryFolder()
            let stage = try await Stage(
                folder, broker: MockBroker.start(in: folder.url), environment: ["GRANTOR_MAX_IN_FLIGHT": "50"])
            let submitting = try Submitting(to: stage.broker)
            var player = Player(stage.apple)
            let worker = try await stage.startWorker().ready()
            let always = Array(repeating: Fault.status(code: 21009), count: 1000)
            try await submitting.submit(try (0..<2).map { _ in try player.consumable(after: always) })

            let calm = try await shown(worker, "two submissions are shown to wait") {
                $0.value("grantor_submissions_waiting", #"cause="temporarilyUnable""#, #"outcome="parked""#) == 2
            }
            #expect(calm.value("grantor_submissions_waiting", #"outcome="held""#) == 0)
            #expect(calm.value("grantor_waiting_overdue_seconds") != nil)
            #expect(calm.value("grantor_apple_breakers", Self.apple.0, Self.apple.1, #"phase="closed""#) == 1)
            #expect(calm.value("grantor_window_submissions") == 0)
            #expect(calm.value("grantor_window_limit_submissions") == 200)
            #expect(calm.value("grantor_window_limit_bytes") == 8_388_608)
            #expect(calm.value("grantor_outbox_entries") == 0)
            #expect(calm.value("grantor_events_withheld") == 0)
            #expect(calm.value("grantor_partitions_stalled") == 0)
            #expect(calm.value("kafka_consumer_records_gone_total") == 0)

            stage.apple.simulator.behave(Behaviour(outage: .unavailable))
            try await submitting.submit(try player.consumables(400))
            let outage = try await shown(worker, "an outage is shown") {
                $0.value("grantor_apple_breakers", Self.apple.0, Self.apple.1, #"phase="closed""#) == 0
                    && $0.value("grantor_partition_oldest_unfinished_seconds") ?? 0 > 0
                    && $0.value("grantor_window_submissions") ?? 0 > 0
            }
            #expect(outage.value("grantor_apple_breakers", Self.apple.0, Self.apple.1) == 1)
            #expect(outage.value("grantor_apple_breaker_openings_total", Self.apple.0, Self.apple.1) ?? 0 >= 1)
            #expect(outage.value("grantor_window_submissions") ?? 0 <= 200)
            #expect(outage.value("grantor_partition_lag_seconds") != nil)
            #expect(outage.value("grantor_apple_call_limit", Self.apple.0, Self.apple.1) != nil)
            #expect(outage.value("grantor_submissions_waiting", #"outcome="parked""#) == 2, "an outage parks nothing")

            stage.apple.simulator.clearScripts()
            try await stage.settled(402, within: .seconds(60))
            _ = try await shown(worker, "all is well again") {
                $0.value("grantor_apple_breakers", Self.apple.0, Self.apple.1, #"phase="closed""#) == 1
                    && $0.value("grantor_submissions_waiting") == 0 && $0.value("grantor_window_submissions") == 0
                    && $0.value("grantor_outbox_entries") == 0
            }
            #expect(try await worker.stop() == .code(0))
            await submitting.close()
            try await stage.close()
        }
    }
}
