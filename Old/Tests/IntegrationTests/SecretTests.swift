import AppStoreSimulator
import Foundation
import Kafka
import SystemTesting
import Testing

extension IntegrationTests {
    @Suite("Secrets")
    struct SecretTests {
        @Test("No log line, metric or event holds the shared secret or a receipt, not even at the level trace")
        func secrets() async throws {
            let folder = try TemporaryFolder()
            let stage = try await Stage(
                folder, broker: MockBroker.start(in: folder.url), environment: ["GRANTOR_LOG_LEVEL": "trace"])
            let answers = try Answers(from: stage.broker)
            let submitting = try Submitting(to: stage.broker)
            let worker = try await stage.startWorker().ready()
            var player = Player(stage.apple)
            let played = try player.mixed(100)
            try await submitting.submit(played)
            let answered = try await answers.await("every answer is on the topics", within: .seconds(60)) {
                $0.missing(played).isEmpty
            }
            let metrics = try #require(try await worker.get("/metrics")).text
            #expect(try await worker.stop() == .code(0))

            #expect(stage.apple.simulator.statistics().production.calls > 0, "the secret was used")
            #expect(worker.text.contains("Starting"))
            #expect(metrics.contains("grantor_"))
            let events = answered.records.map { record in
                ([record.key, record.value] + record.headers.map(\.value))
                    .map { String(decoding: $0 ?? [], as: UTF8.self) }.joined(separator: "\n")
            }.joined(separator: "\n")
            // A piece from the middle: the beginnings of receipts are alike.
            let receipts = played.compactMap(\.proof).map { $0.dropFirst($0.count / 2).prefix(40) }
            for (name, text) in [("log", worker.text), ("metrics", metrics), ("events", events)] {
                #expect(!text.contains(Apple.sharedSecret), "\(name)")
                #expect(!receipts.contains { text.contains($0) }, "\(name)")
            }
            await submitting.close()
            try await answers.close()
            try await stage.close()
        }
    }
}
