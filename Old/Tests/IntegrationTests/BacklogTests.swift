import Ledger
import SystemTesting
import Testing

extension IntegrationTests {
    @Suite("A backlog that never empties")
    struct BacklogTests {
        static let submissions = 20_000
        /// What a worker with 1,000 calls of 30 KB in flight may occupy.
        static let limitMebibytes = 350
        /// More than the worker's window; a partition's share is a sixth of what the broker keeps of it.
        static let mostAhead = 2800

        @Test("Memory stays under its limit and does not grow while 600 MB pass through", .timeLimit(.minutes(15)))
        func memory() async throws {
            let folder = try TemporaryFolder()
            let stage = try await Stage(
                folder, broker: MockBroker.start(in: folder.url, partitions: 96),
                environment: ["GRANTOR_MAX_IN_FLIGHT": "1000"])
            stage.apple.takeTime(from: 2000, through: 2000)
            let submitting = try Submitting(to: stage.broker)
            let worker = try await stage.startWorker().ready()
            var player = Player(stage.apple)
            // 22 KB are 30 KB in base64.
            let receipts = try (0..<200).map { _ in try player.receipt(bytes: 22_000) }

            var memory: [Int] = []
            try await stage.withLedger { ledger in
                var submitted = 0
                while true {
                    let settled = try await ledger.counts().submissions[.granted] ?? 0
                    guard settled < Self.submissions else { return }
                    try worker.process.checkAlive()
                    // What the broker deleted will not be settled, however long this waits.
                    try #require(try await worker.metric("kafka_consumer_records_gone_total") == 0)
                    let room = min(Self.submissions - submitted, settled + Self.mostAhead - submitted)
                    try await submitting.submit(
                        try (0..<max(room, 0)).map {
                            try player.repeat(of: receipts[(submitted + $0) % receipts.count])
                        })
                    submitted += max(room, 0)
                    memory.append(try #require(worker.residentMebibytes))
                    try await Task.sleep(for: .milliseconds(100))
                }
            }
            let quarter = memory.count / 4
            let second = try #require(memory[quarter..<quarter * 2].median)
            // What is never given back raises the floor; more work at once raises the rest, too.
            let last = try #require(memory[(quarter * 3)...].min())
            #expect(memory.max() ?? 0 < Self.limitMebibytes, "MiB over time: \(memory)")
            #expect(Double(last) <= 1.15 * Double(second), "MiB over time: \(memory)")
            #expect(try await worker.stop() == .code(0))
            await submitting.close()
            try await stage.close()
        }
    }
}

extension RandomAccessCollection where Element: Comparable {
    /// The element in the middle once sorted; nil if there is none.
    fileprivate var median: Element? {
        isEmpty ? nil : sorted()[count / 2]
    }
}
