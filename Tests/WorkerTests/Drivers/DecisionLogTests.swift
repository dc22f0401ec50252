import Contract
import Ledger
import Logging
import Synchronization
import Testing

@testable import Worker

@Suite("The log of decisions")
struct DecisionLogTests {
    private final class Lines: LogHandler {
        private let lines = Mutex<[Logger.Metadata]>([])
        var taken: [Logger.Metadata] { lines.withLock { $0 } }

        func log(_ level: Logger.Level, _ label: String, _ message: String, _ metadata: Logger.Metadata) {
            lines.withLock { $0.append(metadata) }
        }
    }

    private let lines = Lines()

    private func write(_ result: DecisionResult, level: Logger.Level = .debug) throws {
        let origin = Origin(topic: "t", partition: 2, offset: 7)
        let digest = try #require(ClaimDigest(bytes: [UInt8](repeating: 1, count: 32)))
        let malformed = MalformedSubmission(
            claimant: Claimant(
                submissionID: "s-1", userID: "u-1", bundleID: "com.example.game", orderID: nil, traceparent: nil),
            rejection: Rejection(.malformedSubmission, "x"), digest: digest, origin: origin,
            receivedAt: Timestamp(milliseconds: 0))
        let decision = Decision(
            subject: .malformed(malformed),
            source: .record(
                PartitionOwnership(partition: origin.topicPartition, generation: Generation(rawValue: 1))),
            content: .fail(malformed.rejection), attempts: 3, decidedAt: Timestamp(milliseconds: 0), owesCall: false,
            tellsWaiting: false, repeats: .publish, doubtsNothingNew: false)
        DecisionLog(logger: Logger(label: "test", level: level, handler: lines)).wrote([decision], [result])
    }

    @Test("has a line for each, by which one submission can be followed")
    func line() throws {
        try write(.written(.failed(reason: "malformed_submission"), publish: []))
        let line = lines.taken.first ?? [:]
        #expect(line["submission"] == "s-1" && line["app"] == "com.example.game" && line["attempts"] == 3)
        #expect(line["outcome"] == "failed" && line["reason"] == "malformed_submission")
    }

    @Test("says what the ledger did not write, too")
    func refused() throws {
        try write(.notOwned)
        try write(.toBeHeld(.productNotConfigured, detail: "gems"))
        #expect(lines.taken.map { $0["outcome"] } == ["not_owned", "to_be_held"])
        #expect(lines.taken.last?["cause"] == "product_not_configured")
    }

    @Test("is not written at other levels")
    func quiet() throws {
        try write(.notOwned, level: .info)
        #expect(lines.taken.isEmpty)
    }
}
