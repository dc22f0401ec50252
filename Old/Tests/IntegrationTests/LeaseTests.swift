import AppStoreSimulator
import Glibc
import Ledger
import Purchases
import SystemTesting
import Testing

extension IntegrationTests {
    @Suite("A worker that ends while it tries submissions that were parked")
    struct LeaseTests {
        static let submissions = 120
        /// Every sixth is parked: few enough that Apple is not taken to be out.
        static let parkedShare = 6
        /// Tries in memory, after which a submission is parked.
        static let memoryTries = 4

        struct Case: Sendable, CustomTestStringConvertible {
            let ledger: String
            let signal: Int32
            var testDescription: String { "\(ledger), \(signal == SIGKILL ? "kill -9" : "SIGTERM")" }
        }

        @Test(
            "Another worker finishes them within the lease, and the try that was cut short is not counted",
            arguments: [
                Case(ledger: "SQLite", signal: SIGKILL), Case(ledger: "SQLite", signal: SIGTERM),
                Case(ledger: "PostgreSQL", signal: SIGKILL), Case(ledger: "PostgreSQL", signal: SIGTERM),
            ])
        func ended(example: Case) async throws {
            let folder = try TemporaryFolder()
            let stage = try await Stage(
                folder, broker: MockBroker.start(in: folder.url),
                properties: ["session.timeout.ms": "3000", "heartbeat.interval.ms": "1000"],
                environment: ["GRANTOR_SHUTDOWN_TIMEOUT": "5s"],
                database: example.ledger == "PostgreSQL" ? try await Stage.makeDatabase() : nil)
            let answers = try Answers(from: stage.broker)
            let submitting = try Submitting(to: stage.broker)
            var player = Player(stage.apple)
            // The fifth try is the first one from the ledger, and hangs.
            let faults = Array(repeating: Fault.status(code: 21005), count: Self.memoryTries) + [.hang]
            let played = try (0..<Self.submissions).map { index in
                try index % Self.parkedShare == 0
                    ? player.consumable(after: faults) : player.consumables(1)[0]
            }
            let parked = played.enumerated().filter { $0.offset % Self.parkedShare == 0 }.map(\.element)
            let keys = parked.compactMap(\.submissionID).map {
                SubmissionKey(bundleID: Catalogue.bundleID, submissionID: $0)
            }

            let first = try await stage.startWorker().ready()
            try await submitting.submit(played)
            _ = try await stage.withLedger { ledger in
                try await eventually("one worker tries all that is parked", within: .seconds(30)) {
                    var tried = 0
                    for key in keys {
                        if try await ledger.waiting(key)?.worker != nil { tried += 1 }
                    }
                    return tried == keys.count ? true : nil
                }
            }
            if example.signal == SIGKILL {
                try await first.kill()
            } else {
                #expect(try await first.stop() == .code(0))
                try await stage.withLedger { ledger in
                    for key in keys {
                        let state = try #require(try await ledger.waiting(key))
                        #expect(state.worker == nil, "given back")
                    }
                }
            }

            // A lease lasts half a minute.
            let second = try await stage.startWorker().ready()
            try await stage.settled(Self.submissions, within: .seconds(60))
            let answered = try await answers.await("every answer is on the topics", within: .seconds(60)) {
                $0.missing(played).isEmpty
            }
            try await Judgement.expectRight(played, answered, stage)
            try await stage.withLedger { ledger in
                for key in keys {
                    let filter = SubmissionFilter(submissionID: key.submissionID)
                    let row = try #require(try await ledger.submissions(filter, before: nil, limit: 1).first)
                    #expect(row.attempts == Self.memoryTries + 1)
                    #expect(row.history.attempts.map(\.cause) == Array(repeating: "temporarilyUnable", count: 4))
                }
            }
            let calls = stage.apple.simulator.statistics().callsByTransaction
            for transaction in parked.flatMap(\.expectation.transactions) {
                #expect(calls[transaction.rawValue] == Self.memoryTries + 2)
            }
            #expect(try await second.stop() == .code(0))
            await submitting.close()
            try await answers.close()
            try await stage.close()
        }
    }
}
