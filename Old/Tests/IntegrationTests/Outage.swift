import AppStoreSimulator
import Ledger
import Purchases
import SystemTesting
import Testing

/// Work during which something goes away.
enum Outage {
    static let submissions = 600

    /// Submits, takes something away in the middle of the work, brings it back, and expects that all is well at the end.
    static func play(
        on stage: Stage, lasting duration: Duration = .seconds(3), goAway: (WorkerProcess) async throws -> Void,
        comeBack: () async throws -> Void
    ) async throws {
        stage.apple.takeTime(from: 20, through: 200)
        let answers = try Answers(from: stage.broker)
        let submitting = try Submitting(to: stage.broker)
        let worker = try await stage.startWorker().ready()
        var player = Player(stage.apple)
        let played = try player.consumables(submissions)
        try await submitting.submit(played)

        let before = try await stage.withLedger { ledger in
            try await eventually("work has begun", within: .seconds(30)) {
                let counts = try await ledger.counts()
                return counts.grants > 20 ? counts.grants : nil
            }
        }
        #expect(before < submissions, "the outage comes in the middle of the work")
        try await goAway(worker)
        // The outage's length is what is tested; nothing is waited for.
        try await Task.sleep(for: duration)
        try worker.process.checkAlive()
        try await comeBack()

        try await stage.settled(submissions, within: .seconds(90))
        let answered = try await answers.await("every answer is on the topics", within: .seconds(60)) {
            $0.missing(played).isEmpty
        }
        #expect(answered.failures.isEmpty)
        try await Judgement.expectRight(played, answered, stage)
        #expect(try await worker.stop() == .code(0))
        await submitting.close()
        try await answers.close()
    }
}
