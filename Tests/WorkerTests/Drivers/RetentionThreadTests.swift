import Contract
import Foundation
import Ledger
import LedgerSQLite
import Logging
import Metrics
import Scheduling
import Synchronization
import Testing
import Threading

@testable import Processing
@testable import Worker

/// The thread that deletes old answers, on a file of SQLite.
@Suite final class RetentionThreadTests {
    private final class Lines: LogHandler {
        private let lines = Mutex<[(message: String, metadata: Logger.Metadata)]>([])
        private let wake: WakeDescriptor

        init() throws { wake = try WakeDescriptor() }

        func log(_ level: Logger.Level, _ label: String, _ message: String, _ metadata: Logger.Metadata) {
            lines.withLock { $0.append((message, metadata)) }
            wake.signal()
        }

        /// Waits for a line.
        func first() -> (message: String, metadata: Logger.Metadata)? {
            wake.wait(until: .now + .seconds(180))
            return lines.withLock { $0.first }
        }
    }

    private static let sign = WorkerSign(id: 1, name: "host-1/7", version: "1")
    private static let partition = TopicPartition(topic: "receipts.submitted", partition: 0)
    private let folder: URL
    private let ledger: SQLiteLedger
    private let registry = PrometheusRegistry()
    private let lines: Lines

    init() throws {
        lines = try Lines()
        folder = FileManager.default.temporaryDirectory.appending(path: "retention-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let configuration = SQLiteLedgerConfiguration(path: folder.appending(path: "grantor.db").path)
        try SQLiteLedger.migrate(configuration)
        ledger = try SQLiteLedger(configuration)
        _ = try ledger.takeOver([
            TakeOver(
                ownership: PartitionOwnership(partition: Self.partition, generation: Generation(rawValue: 1)),
                owner: "host-1/7", committed: nil)
        ])
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// A failure that was written so many days ago.
    private func write(_ id: SubmissionID, days: Int, offset: Int64) throws {
        let then = Timestamp.now.advanced(by: .seconds(-86_400 * days))
        let origin = Origin(topic: "receipts.submitted", partition: 0, offset: offset)
        let submission = Submission(
            claimant: Claimant(
                submissionID: id, userID: "u", bundleID: "com.example.game", orderID: nil, traceparent: nil),
            claim: .nothing, evidence: .receipt(base64: "AAAA"), origin: origin, receivedAt: then)
        _ = try ledger.write([
            Decision(
                subject: .submission(submission),
                source: .record(
                    PartitionOwnership(partition: Self.partition, generation: Generation(rawValue: 1))),
                content: .fail(Rejection(.receiptNotAuthentic, "Said so.")), attempts: 1, decidedAt: then,
                owesCall: false, tellsWaiting: false, repeats: .publish, doubtsNothingNew: false)
        ])
    }

    /// A thread whose first round comes at once.
    private func start(
        open: @escaping @Sendable () throws(LedgerError) -> any LedgerOperator
    ) throws -> RetentionThread {
        let retention = AnswerRetention(
            keep: .seconds(90 * 86_400), worker: "host-1/7", reason: "GRANTOR_KEEP_ANSWERS is 90d",
            startedAt: .now - .seconds(3600), unit: 0)
        return try RetentionThread(
            retention, metrics: WorkerMetrics(registry), logger: Logger(label: "test", handler: lines), open: open)
    }

    @Test("Answers beyond their time go, the others stay; it is noted, counted and told")
    func deletes() throws {
        for (offset, days) in [200, 91, 89, 0].enumerated() {
            try write(SubmissionID("s\(days)"), days: days, offset: Int64(offset))
        }
        _ = try ledger.measure(as: Self.sign)
        let path = folder.appending(path: "grantor.db").path
        let thread = try start { () throws(LedgerError) in
            try SQLiteLedger(SQLiteLedgerConfiguration(path: path))
        }
        let line = lines.first()
        thread.endSoon()
        thread.join()
        #expect(line?.message == "Old answers are deleted" && line?.metadata["answers"] == 2)
        let left = try ledger.submissions(SubmissionQuery(state: .failed))
        #expect(Set(left.map(\.claimant.submissionID)) == ["s89", "s0"])
        let action = try #require(try ledger.actions(on: nil).first)
        #expect(action.kind == .prune && action.note.actor == "worker host-1/7")
        #expect(action.note.prunesBefore != nil)
        #expect(registry.render().contains("grantor_answers_pruned_total 2\n"))
    }

    @Test("The action of a round stands once, however often the round begins")
    func notesOnce() throws {
        for _ in 0..<2 {
            let note = OperatorNote(actor: "worker host-1/7", reason: "GRANTOR_KEEP_ANSWERS is 90d", at: .now)
            let call = AnswerRetention.Call.note(note.pruning(before: Timestamp(milliseconds: 1)))
            _ = try call.perform(on: ledger)
        }
        #expect(try ledger.actions(on: nil).count == 1)
    }

    @Test("A ledger that cannot be had is told and counted, and the thread ends when it is told to")
    func fails() throws {
        let thread = try start { () throws(LedgerError) in throw .unavailable(detail: "no connection left") }
        #expect(lines.first()?.metadata["cause"] == "no connection left")
        thread.endSoon()
        thread.join()
        #expect(registry.render().contains("grantor_prune_failures_total 1\n"))
    }
}
