import Foundation
import Ledger
import Purchases
import SystemTesting
import Testing

extension IntegrationTests {
    @Suite("A worker that is killed")
    struct KillTests {
        static let kills = 10
        static let submissions = 2000

        @Test(
            "Ten times kill -9 at any moment lose no submission, grant nothing twice and change no event",
            arguments: ["SQLite", "PostgreSQL"])
        func killed(ledger: String) async throws {
            let folder = try TemporaryFolder()
            // The mock's group waits for a dead member about two seconds longer than its session, and for ever when the
            // session is below 2.5 s.
            let stage = try await Stage(
                folder, broker: MockBroker.start(in: folder.url),
                properties: ["session.timeout.ms": "3000", "heartbeat.interval.ms": "1000"],
                database: ledger == "PostgreSQL" ? try await Stage.makeDatabase() : nil)
            stage.apple.takeTime(from: 20, through: 300)
            let answers = try Answers(from: stage.broker)
            let submitting = try Submitting(to: stage.broker)
            var player = Player(stage.apple)
            let played = try player.mixed(Self.submissions)
            var generator = SeededGenerator(seed: 2026)

            var interrupted = 0
            for round in 0..<Self.kills {
                let share = Self.submissions / Self.kills
                try await submitting.submit(Array(played[round * share..<(round + 1) * share]))
                let worker = try stage.startWorker()
                // Every third dies on its way into the group, the others at work.
                if round % 3 != 2 { try await worker.ready() }
                try await Task.sleep(for: .milliseconds(Int.random(in: 0...600, using: &generator)))
                // In the middle of the work, and with nobody at work.
                if round % 5 == 1 { try await Judgement.expectSound(stage, drained: false) }
                try await worker.kill()
                if round % 5 == 4 { try await Judgement.expectSound(stage, drained: false) }
                let counts = try await stage.withLedger { try await $0.counts() }
                if counts.submissions.values.reduce(0, +) < (round + 1) * share - counts.quarantined {
                    interrupted += 1
                }
            }
            #expect(interrupted >= 5, "most kills come in the middle of work")

            let worker = try await stage.startWorker().ready()
            let unreadable = played.count { $0.submissionID == nil }
            try await stage.settled(
                Self.submissions - unreadable, quarantined: unreadable, within: .seconds(90))
            let answered = try await answers.await("every answer is on the topics", within: .seconds(60)) {
                $0.missing(played).isEmpty && $0.quarantined >= unreadable
            }
            try await Judgement.expectRight(played, answered, stage)
            #expect(try await worker.stop() == .code(0))
            await submitting.close()
            try await answers.close()
            try await stage.close()
        }
    }
}
