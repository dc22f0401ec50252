import Foundation
import InventoryTesting
import Kafka
import Ledger
import Purchases
import SystemTesting
import Testing

extension IntegrationTests {
    @Suite("An inventory service that is told before anybody else", .serialized)
    struct DeliveryTests {
        static let submissions = 300
        static let kills = 4

        /// A service in every kind of trouble: many grants are applied at their second call only, and what a call came to is
        /// often not heard.
        @Sendable private static func troubled(_ call: InventoryServer.Call) -> InventoryServer.Behaviour {
            // The same for each run of the test: a grant's trouble follows from its id.
            let kind = call.key.utf8.reduce(0) { ($0 &* 31 &+ Int($1)) & 0xFFFF } % 16
            switch (kind, call.tries) {
            case (0, 1): return .refuse(status: 500)
            case (1, 1): return .hang
            case (2, 1): return .applyAndHang
            case (3, 1): return .applyAndDie
            case (4, 1): return .applyAndCut
            case (5, 1): return .applyTwiceAnswered
            case (6, 1): return .refuse(status: 409, body: #"{"grantId":"another"}"#)
            case (2, _), (3, _): return .apply(status: 409, body: "{\"grantId\":\"\(call.key)\"}")
            default: return .apply()
            }
        }

        @Test(
            "Kill -9 in the middle of its calls, and whatever it answers: each grant is applied once and told after that",
            arguments: ["SQLite", "PostgreSQL"])
        func killed(ledger: String) async throws {
            let folder = try TemporaryFolder()
            let server = try await InventoryServer(
                now: { Int64(Date().timeIntervalSince1970 * 1000) }, script: Self.troubled)
            let stage = try await Stage(
                folder, broker: MockBroker.start(in: folder.url),
                properties: ["session.timeout.ms": "3000", "heartbeat.interval.ms": "1000"], inventory: server.url,
                database: ledger == "PostgreSQL" ? try await Stage.makeDatabase() : nil)
            let answers = try Answers(from: stage.broker)
            let submitting = try Submitting(to: stage.broker)
            var player = Player(stage.apple)
            let played = try player.consumables(Self.submissions)

            for round in 0..<Self.kills {
                let share = Self.submissions / Self.kills
                let called = server.soFar.calls.count
                try await submitting.submit(Array(played[round * share..<(round + 1) * share]))
                let worker = try await stage.startWorker().ready()
                try await eventually("calls are under way", within: .seconds(60)) {
                    server.soFar.calls.count >= called + share / 3 ? true : nil
                }
                try await worker.kill()
                try await Judgement.expectSound(stage, drained: false)
            }
            let worker = try await stage.startWorker().ready()
            _ = try await stage.withLedger { ledger in
                try await eventually("all is delivered", within: .seconds(120)) {
                    let counts = try await ledger.counts()
                    return counts.grants == Self.submissions && counts.openDeliveries == 0 ? true : nil
                }
            }
            let answered = try await answers.await("every answer is on the topics", within: .seconds(60)) {
                $0.missing(played).isEmpty
            }
            try await Judgement.expectRight(played, answered, stage)
            #expect(try await worker.stop() == .code(0))
            #expect(!worker.text.contains(AppsFile.signingSecret))

            let book = server.soFar
            #expect(book.applied.count == Self.submissions, "each grant is applied, by its key")
            #expect(book.bodies.allSatisfy { $0.value.count == 1 }, "calls with the same key are the same")
            #expect(book.calls.count > Self.submissions, "there was trouble")
            expectToldAfterwards(answered, book)
            await submitting.close()
            try await answers.close()
            try await stage.close()
            try await server.close()
        }

        /// Each granted event is of a grant that was applied before.
        private func expectToldAfterwards(_ answered: Answered, _ book: InventoryServer.Book) {
            struct Body: Decodable { let grantId: String }
            var early: [String] = []
            for record in answered.records where record.partition.topic == Topic.granted {
                guard let value = record.value, let body = try? JSONDecoder().decode(Body.self, from: Data(value)),
                    let published = record.timestampMilliseconds
                else {
                    Issue.record("a granted event that cannot be read")
                    continue
                }
                guard let applied = book.applied[body.grantId], applied <= published else {
                    early.append(body.grantId)
                    continue
                }
            }
            #expect(early == [], "published before they were applied")
        }

        @Test("A service that is away for a while costs nothing, and people can see what is open")
        func away() async throws {
            let folder = try TemporaryFolder()
            let first = try await InventoryServer(now: { 0 }, script: { _ in .refuse(status: 503) })
            let stage = try await Stage(folder, broker: MockBroker.start(in: folder.url), inventory: first.url)
            let submitting = try Submitting(to: stage.broker)
            let worker = try await stage.startWorker().ready()
            var player = Player(stage.apple)
            try await submitting.submit(try player.consumables(100))
            try await stage.withLedger { ledger in
                try await eventually("all is granted, and nothing is told", within: .seconds(60)) {
                    let counts = try await ledger.counts()
                    return counts.grants == 100 && counts.openDeliveries == 100 && !first.soFar.calls.isEmpty
                        ? true : nil
                }
                #expect(try await ledger.counts().unpublished == 0)
                #expect(try await ledger.events(after: 0, limit: 10) == [])
            }
            let metrics = try #require(try await worker.get("/metrics"))
            #expect(metrics.text.contains("grantor_delivery_calls_total{result=\"failed\"}"))
            try await Judgement.expectSound(stage, drained: false)
            let (exit, text) = try await stage.audit(drained: true)
            #expect(exit != .code(0) && text.contains("I22"), "open deliveries are found: \(text)")
            #expect(try await worker.stop() == .code(0))
            await submitting.close()
            try await stage.close()
            try await first.close()
        }
    }
}
