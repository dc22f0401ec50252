import Foundation
import Ledger
import Purchases
import SystemTesting
import Testing

/// The main job: 300 submissions of every kind, answered by one worker that is then stopped in order.
enum MainJob {
    static func play(on stage: Stage) async throws -> ([Played], Answered) {
        let answers = try Answers(from: stage.broker)
        let submitting = try Submitting(to: stage.broker)
        let worker = try await stage.startWorker().ready()
        var player = Player(stage.apple)

        let first = try player.mixed(240)
        try await submitting.submit(first)
        let unreadable = first.count { $0.submissionID == nil }
        try await stage.settled(240 - unreadable, quarantined: unreadable, within: .seconds(60))

        let granted = first.filter { !$0.expectation.transactions.isEmpty }
        let second = try player.again(Array(granted.prefix(60)))
        let played = first + second
        try await submitting.submit(second)
        try await stage.settled(
            Set(played.compactMap(\.submissionID)).count, quarantined: unreadable, within: .seconds(60))

        // What is asked for again is answered again, with a copy that no row of the ledger tells of.
        let copies = played.reduce(0) { $0 + $1.expectation.copies }
        let answered = try await answers.await("every answer is on the topics", within: .seconds(60)) {
            $0.missing(played).isEmpty && $0.quarantined == unreadable && $0.records.count >= copies
        }
        #expect(try await worker.stop(within: .seconds(20)) == .code(0))
        try await Judgement.expectRight(played, answered, stage)
        await submitting.close()
        try await answers.close()
        return (played, answered)
    }

    /// Starts a second worker, gives it one more submission, and looks whether it did anything else.
    static func expectNothingNew(on stage: Stage, _ played: [Played], _ answered: Answered) async throws {
        let before = try await stage.withLedger { try await $0.events(after: 0, limit: 1000) }
        let answers = try Answers(from: stage.broker, group: "downstream-again")
        let submitting = try Submitting(to: stage.broker)
        let worker = try await stage.startWorker().ready()
        var player = Player(stage.apple, from: 1_000_000)
        let last = try player.consumables(1)
        try await submitting.submit(last)
        try await answers.await("the one more answer", within: .seconds(60)) { $0.missing(last).isEmpty }
        #expect(try await worker.stop(within: .seconds(20)) == .code(0))

        let after = try await stage.withLedger { try await $0.events(after: 0, limit: 1000) }
        #expect(Array(after.dropLast()) == before, "no copy is asked for or published again")
        #expect(after.count == before.count + 1)
        let copies = answered.records.count + 1
        let everything = try await answers.await("every copy", within: .seconds(30)) { $0.records.count >= copies }
        #expect(everything.records.count == copies)
        await submitting.close()
        try await answers.close()
    }

    /// Takes the ledger's file away, and looks whether people are told, and programs.
    static func expectLostLedgerIsNamed(on stage: Stage) async throws {
        let name = "ledger and group"
        #expect(try await !stage.operators.run("check").output.contains(name))
        for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: stage.ledgerPath + suffix) {
            try FileManager.default.removeItem(atPath: stage.ledgerPath + suffix)
        }
        let check = try await stage.operators.run("check")
        #expect(check.lines.contains { $0.hasPrefix(name) && $0.contains("FAILED") })
        #expect(check.exit == .code(1))
        let worker = try await stage.startWorker().ready()
        #expect(worker.text.contains("The ledger is empty, though its group has worked before"))
        #expect(try await worker.get("/metrics")?.text.contains("grantor_ledger_forgotten 1\n") == true)
        #expect(try await worker.stop(within: .seconds(20)) == .code(0))
    }
}
