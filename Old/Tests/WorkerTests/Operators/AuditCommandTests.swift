import ArgumentParser
import Audit
import Fulfillment
import Kafka
import Ledger
import Purchases
import Testing

@testable import Worker

@Suite("The audit command")
struct AuditCommandTests {
    /// Topics that hold what a ledger's outbox holds, or cannot be read.
    private struct Topics: AuditedTopics {
        let events: [Event]
        var error: KafkaError?

        private static let partition = TopicPartition(topic: "purchases.granted", partition: 0)

        func committed() async throws(KafkaError) -> [TopicPartition: Int64] {
            if let error { throw error }
            return [:]
        }

        func offsets() async throws(KafkaError) -> [TopicPartition: Range<Int64>] {
            [Self.partition: 0..<Int64(events.count)]
        }

        func read(
            _ stretches: [TopicPartition: Range<Int64>], _ take: (TopicRecord) -> Void
        ) async throws(KafkaError) {
            for (offset, event) in zip(Int64(0)..., events) {
                take(
                    TopicRecord(
                        partition: Self.partition, offset: offset, timestamp: nil, key: event.key, value: event.value,
                        headers: event.headers))
            }
        }
    }

    private func status(
        _ arguments: [String], _ topics: Topics, ledger: Result<LedgerFixture, LedgerError> = .success(LedgerFixture())
    ) async throws -> Int32 {
        let folder = try TemporaryFolder()
        let file = try folder.write("kafka:\n  bootstrapServers: \"127.0.0.1:1\"\n", to: "grantor.yaml")
        let opener = LedgerOpener(
            reader: { _, _ async throws(LedgerError) in try ledger.get() },
            migrate: { _, _ async throws(LedgerError) in .alreadyCurrent })
        return await LedgerOpener.$current.withValue(opener) {
            await TopicsOpener.$current.withValue(TopicsOpener { _, _, _, _ in topics }) {
                do {
                    let command = try AuditCommand.parse(arguments + ["--config", file])
                    try await command.run()
                    return 0
                } catch {
                    return AuditCommand.exitCode(for: error).rawValue
                }
            }
        }
    }

    private let stranger = Event(id: "x", kind: .granted, key: nil, headers: [EventHeader("ce_id", "x")], value: nil)

    @Test("ends with 0 if everything holds, with 1 if not")
    func verdict() async throws {
        #expect(try await status(["--drained", "--json"], Topics(events: [])) == 0)
        #expect(try await status([], Topics(events: [])) == 0)
        #expect(try await status([], Topics(events: [stranger])) == 1)
    }

    @Test("ends with what else is wrong as other commands do")
    func errors() async throws {
        let topics = Topics(events: [])
        #expect(try await status(["--frobnicate"], topics) == 64)
        #expect(try await status([], topics, ledger: .failure(.unusable("nowhere"))) == 78)
        #expect(try await status([], topics, ledger: .failure(.damaged("x"))) == 1)
        #expect(try await status([], Topics(events: [], error: .unknownProperty(key: "x"))) == 78)
        #expect(try await status([], Topics(events: [], error: .closed)) == 1)
    }
}
