import Foundation
import Glibc
import Ledger
import Purchases
import SystemTesting
import Testing

extension IntegrationTests {
    @Suite("Workers that share a topic", .timeLimit(.minutes(5)))
    struct RebalanceTests {
        static let strategies = ["range", "roundrobin", "cooperative-sticky"]
        /// What the group may wait for a worker's answer. It takes milliseconds; the rest is for a busy machine.
        static let promptly = 1.0

        private func stage(_ strategy: String, _ environment: [String: String] = [:]) async throws -> Stage {
            let folder = try TemporaryFolder()
            return try await Stage(
                folder, broker: MockBroker.start(in: folder.url, partitions: 8),
                // The mock's group needs about a session for each change, and is stuck below 2.5 s.
                properties: ["session.timeout.ms": "3000", "heartbeat.interval.ms": "500"],
                environment: environment.merging(["GRANTOR_KAFKA_ASSIGNMENT_STRATEGY": strategy]) { $1 })
        }

        @Test(
            "Workers come, stand still past their session, go on and go; nothing is lost and nothing granted twice",
            arguments: strategies)
        func changes(strategy: String) async throws {
            let stage = try await stage(strategy)
            stage.apple.takeTime(from: 20, through: 300)
            let answers = try Answers(from: stage.broker)
            let submitting = try Submitting(to: stage.broker)
            var player = Player(stage.apple)
            var played: [Played] = []
            func submit(_ count: Int) async throws {
                let more = try player.consumables(count)
                played += more
                try await submitting.submit(more)
            }

            let first = try await stage.startWorker().ready()
            try await submit(300)
            let second = try stage.startWorker()
            try await Self.share(first, second, submit)
            // Its session runs out while it believes to be a member; its calls are answered after it went on.
            try await submit(100)
            first.process.kill(SIGSTOP)
            try await Self.holds(8, second) { try await submit(20) }
            first.process.kill(SIGCONT)
            try await Self.share(first, second, submit)
            #expect(try await second.stop() == .code(0))
            try await Self.holds(8, first) { try await submit(20) }

            try await stage.settled(played.count, within: .seconds(60))
            let answered = try await answers.await("every answer is on the topics", within: .seconds(60)) {
                $0.missing(played).isEmpty
            }
            #expect(answered.failures.isEmpty)
            try await Judgement.expectRight(played, answered, stage)
            #expect(try await first.stop() == .code(0))
            await submitting.close()
            try await answers.close()
            try await stage.close()
        }

        @Test(
            "A worker whose calls hang lets go at once, and what it had not settled is done by the next one",
            arguments: strategies)
        func silentApple(strategy: String) async throws {
            let stage = try await stage(strategy, ["GRANTOR_APPLE_TIMEOUT": "2m"])
            // Longer than the test: nobody is answered.
            stage.apple.takeTime(from: 600_000, through: 600_000)
            let answers = try Answers(from: stage.broker)
            let submitting = try Submitting(to: stage.broker)
            var player = Player(stage.apple)
            let played = try player.consumables(200)

            let first = try await stage.startWorker().ready()
            try await submitting.submit(played)
            try await eventually("calls hang", within: .seconds(30)) {
                try await first.metric("grantor_window_submissions").map { $0 >= 200 } == true ? true : nil
            }
            let second = try stage.startWorker()
            try await Self.share(first, second)
            let longest = try #require(try await first.metric("kafka_consumer_revocation_seconds_sum"))
            #expect(longest < Self.promptly, "all revocations together")
            // Offsets stayed before what has no fate.
            try await eventually("the second worker reads them again", within: .seconds(30)) {
                try await second.metric("grantor_records_read_total").map { $0 > 0 } == true ? true : nil
            }

            // Neither had anything to commit past.
            try await first.kill()
            try await second.kill()
            stage.apple.takeTime(from: 0, through: 0)
            let third = try await stage.startWorker().ready()
            try await stage.settled(played.count, within: .seconds(60))
            let answered = try await answers.await("every answer is on the topics", within: .seconds(60)) {
                $0.missing(played).isEmpty
            }
            try await Judgement.expectRight(played, answered, stage)
            #expect(try await third.stop() == .code(0))
            await submitting.close()
            try await answers.close()
            try await stage.close()
        }

        /// Waits until two workers have half of the partitions each.
        private static func share(
            _ first: WorkerProcess, _ second: WorkerProcess, _ submit: (Int) async throws -> Void = { _ in }
        ) async throws {
            try await holds(4, first) { try await submit(10) }
            try await holds(4, second) { try await submit(10) }
        }

        /// Waits until a worker has so many partitions, with something to do on the way.
        private static func holds(_ count: Double, _ worker: WorkerProcess, _ meanwhile: () async throws -> Void)
            async throws
        {
            try await eventually("\(worker.process.name) has \(count) partitions", within: .seconds(60)) {
                try worker.process.checkAlive()
                if try await worker.metric("grantor_partitions_assigned") == count { return true }
                try await meanwhile()
                return nil
            }
        }
    }
}

extension WorkerProcess {
    /// The value of a metric without labels; nil while it is not there.
    func metric(_ name: String) async throws -> Double? {
        guard let page = try await get("/metrics") else { return nil }
        for line in page.text.split(separator: "\n") where line.hasPrefix(name + " ") {
            return Double(line.dropFirst(name.count + 1))
        }
        return nil
    }
}
