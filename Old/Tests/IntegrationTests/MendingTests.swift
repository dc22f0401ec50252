import AppStoreSimulator
import Ledger
import Purchases
import SystemTesting
import Testing

extension IntegrationTests {
    @Suite("People mend what waits, while workers run")
    struct MendingTests {
        static let submissions = 30

        @Test("A wrong shared secret fails nobody; once it is mended, all that waited for it are tried at a rate")
        func sharedSecret() async throws {
            let folder = try TemporaryFolder()
            let stage = try await Stage(folder, broker: MockBroker.start(in: folder.url))
            _ = try folder.write("not-the-secret\n", to: "shared-secret")
            let answers = try Answers(from: stage.broker)
            let submitting = try Submitting(to: stage.broker)
            var player = Player(stage.apple)
            let played = try player.consumables(Self.submissions)
            let keys = played.compactMap(\.submissionID).map {
                SubmissionKey(bundleID: Catalogue.bundleID, submissionID: $0)
            }

            let mistaken = try await stage.startWorker().ready()
            try await submitting.submit(played)
            _ = try await stage.withLedger { ledger in
                try await eventually("all are held", within: .seconds(60)) {
                    try await ledger.counts().submissions[.held] == Self.submissions ? true : nil
                }
            }
            #expect(answers.soFar.records.isEmpty, "nobody is told anything")
            #expect(try await mistaken.stop() == .code(0))
            let due = try await stage.withLedger { ledger in
                var due: [SubmissionKey: Timestamp] = [:]
                for key in keys { due[key] = try #require(try await ledger.waiting(key)).dueAt }
                return due
            }

            _ = try folder.write(Apple.sharedSecret + "\n", to: "shared-secret")
            let said = try await stage.operators.run(
                #"submissions retry --cause sharedSecretRefused --per-second 20 --actor ann --reason "Secret rotated.""#
            )
            #expect(said.output == "\(Self.submissions) submissions come due within 2 s, the oldest first.\n")
            let mended = try await stage.startWorker().ready()
            try await stage.settled(Self.submissions, within: .seconds(60))
            let answered = try await answers.await("every answer is on the topics", within: .seconds(60)) {
                $0.missing(played).isEmpty
            }
            try await Judgement.expectRight(played, answered, stage)
            try await stage.withLedger { ledger in
                var sooner = 0
                for key in keys {
                    let filter = SubmissionFilter(submissionID: key.submissionID)
                    let row = try #require(try await ledger.submissions(filter, before: nil, limit: 1).first)
                    if let moment = due[key], row.settledAt < moment { sooner += 1 }
                }
                #expect(sooner > 0, "a person's retry brings them sooner")
            }
            #expect(try await mended.stop() == .code(0))
            await submitting.close()
            try await answers.close()
            try await stage.close()
        }

        @Test("What is given up fails once, and what is tried again by hand is granted, while Apple fails for the rest")
        func oneByOne() async throws {
            let folder = try TemporaryFolder()
            let stage = try await Stage(folder, broker: MockBroker.start(in: folder.url))
            let answers = try Answers(from: stage.broker)
            let submitting = try Submitting(to: stage.broker)
            var player = Player(stage.apple)
            let always = Array(repeating: Fault.status(code: 21009), count: 1000)
            let hopeless = try player.consumable(after: always)
            let hopeful = try player.consumable(after: always)
            let worker = try await stage.startWorker().ready()
            try await submitting.submit([hopeless, hopeful])
            let hopelessID = try #require(hopeless.submissionID)
            let hopefulID = try #require(hopeful.submissionID)
            try await stage.withLedger { ledger in
                try await eventually("both are parked", within: .seconds(60)) {
                    try await ledger.counts().submissions[.parked] == 2 ? true : nil
                }
                // A try that is under way when it is given up would end with one more copy of the event.
                let key = SubmissionKey(bundleID: Catalogue.bundleID, submissionID: hopelessID)
                try await eventually("nobody tries it for a while", within: .seconds(60)) { () -> Bool? in
                    guard let state = try await ledger.waiting(key), state.worker == nil else { return nil }
                    return state.dueAt > Timestamp.present.advanced(by: .seconds(5)) ? true : nil
                }
            }

            let gaveUp = try await stage.operators.run(
                "submissions abandon \(hopelessID) --actor ann --reason \"The player was refunded.\"")
            #expect(gaveUp.exit == .code(0))
            let again = try await stage.operators.run(
                "submissions abandon \(hopelessID) --actor ann --reason \"The player was refunded.\"")
            #expect(again.exit == .code(1))
            stage.apple.simulator.clearScripts()
            let retried = try await stage.operators.run(
                "submissions retry \(hopefulID) --actor ann --reason \"Apple mended it.\"")
            #expect(retried.exit == .code(0) || retried.errors.contains("is granted"))

            try await stage.settled(2, within: .seconds(60))
            let answered = try await answers.await("both answers are on the topics", within: .seconds(60)) {
                $0.failures[hopelessID] != nil && $0.missing([hopeful]).isEmpty
            }
            #expect(answered.failures == [hopelessID: "abandoned_by_operator"])
            // Two records: one failed event, one granted event, and no copy of either.
            #expect(answered.records.count == 2)
            try await Judgement.expectSound(stage, drained: true)
            #expect(try await worker.stop() == .code(0))
            #expect(answers.soFar.records.count == 2, "published exactly once")
            await submitting.close()
            try await answers.close()
            try await stage.close()
        }
    }
}
