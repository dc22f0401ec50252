import CommandParser
import Contract
import FileTesting
import Foundation
import Fulfilment
import Ledger
import MemberTesting
import Scheduling
import Synchronization

@testable import Commands
@testable import LedgerSQLite

/// Calls of the program with a ledger on SQLite, a topic in memory and a clock that only pauses move.
final class UpkeepRun {
    /// A clock that only pauses move.
    private final class Time: Sendable {
        private let passed = Mutex(Duration.zero)
        private let body = Mutex<(@Sendable () -> Void)?>(nil)

        var elapsed: Duration { passed.withLock { $0 } }

        func pause(_ pause: Duration) {
            passed.withLock { $0 += pause }
            body.withLock { body in
                body?()
                body = nil
            }
        }

        func next(_ body: @escaping @Sendable () -> Void) { self.body.withLock { $0 = body } }
    }

    static let now = Timestamp(milliseconds: 1_795_953_600_000)
    static let app: BundleID = "com.example.game"
    private static let ownership = PartitionOwnership(
        partition: TopicPartition(topic: "receipts.submitted", partition: 0), generation: Generation(rawValue: 1))

    private let files: TemporaryFolder
    let ledger: SQLiteLedger
    let sender = FixedSender()
    private let time = Time()
    /// Whether progress is a bar, on standard error.
    var isTerminal = false

    var folder: String { files.path }
    var path: String { folder + "/grantor.db" }
    /// All pauses of all calls.
    var paused: Duration { time.elapsed }

    init() throws {
        files = try TemporaryFolder()
        let configuration = SQLiteLedgerConfiguration(path: files.path + "/grantor.db")
        try SQLiteLedger.migrate(configuration)
        ledger = try SQLiteLedger(configuration)
        _ = try ledger.takeOver([TakeOver(ownership: Self.ownership, owner: "worker", committed: nil)])
    }

    func callAsFunction(_ line: String) -> SampleRun.Result {
        let output = Mutex("")
        let errors = Mutex("")
        let context = CommandContext(
            environment: [
                "GRANTOR_LEDGER_URL": "sqlite:\(path)", "GRANTOR_KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1",
            ], width: nil, now: { Self.now },
            clock: { [time] in Instant(nanoseconds: 0) + time.elapsed }, pause: { [time] in time.pause($0) },
            output: { text throws(CommandFailure) in output.withLock { $0 += text } }, bytes: { _ in },
            progress: ProgressOutput(isTerminal: isTerminal) { [isTerminal] text in
                if isTerminal { errors.withLock { $0 += text } }
            }, ledgers: .configured,
            auditedTopics: { _ in FixedTopics() }, cluster: { _ in FixedCluster() },
            input: { _ in FixedInput() }, quarantine: { _ in FixedQuarantine() }, sender: { [sender] _, _ in sender },
            holdSignals: {}, checkClients: { _ in },
            apple: { _ in FixedApple() }, service: { _ in .response(status: 404, key: nil, retryAfter: nil) },
            logHandler: { _ in preconditionFailure("no command logs") })
        let status = GrantorProgram.program.run(
            line.split(separator: " ").map(String.init), context: context,
            output: { text throws(CommandFailure) in output.withLock { $0 += text } },
            errors: { text in errors.withLock { $0 += text } })
        return SampleRun.Result(
            status: status, output: output.withLock { $0 }, errors: errors.withLock { $0 }, log: [])
    }

    /// Has something happen once, at the next pause of a command, whatever its length.
    func atPause(_ body: @escaping @Sendable () -> Void) { time.next(body) }

    /// Says that the partition is complete up to an offset.
    func pass(to next: Int64) throws {
        _ = try ledger.checkpoint([OffsetCheckpoint(ownership: Self.ownership, next: next)])
    }

    func write(file name: String, _ text: String) throws -> String {
        try text.write(toFile: folder + "/" + name, atomically: true, encoding: .utf8)
        return folder + "/" + name
    }

    /// From now on the ledger fails at a row, amid a command's work.
    /// - Parameter change: Such as `DELETE ON answers`.
    func fail(at change: String, when row: String) throws {
        try ledger.database.run(
            "CREATE TRIGGER fault BEFORE \(change) WHEN \(row) BEGIN SELECT RAISE(ABORT, 'the disk is gone'); END")
    }

    func mend() throws { try ledger.database.run("DROP TRIGGER fault") }

    // MARK: Decisions

    @discardableResult
    func write(_ decisions: [Decision]) throws -> [Event] {
        try ledger.write(decisions).flatMap { result -> [Event] in
            guard case .written(_, let publish, _) = result else { return [] }
            return publish.map(\.event)
        }
    }

    func decision(
        _ id: SubmissionID, user: UserID = "player-1", offset: Int64, after: Duration = .zero,
        _ content: Decision.Content
    ) -> Decision {
        let submission = Submission(
            claimant: Claimant(
                submissionID: id, userID: user, bundleID: Self.app, orderID: "order-1", traceparent: nil),
            claim: Claim(
                transactionID: nil, productID: nil, appAccountToken: nil, environment: nil, submittedAt: nil),
            evidence: .receipt(base64: EvidenceText("cmVjZWlwdA==\(offset)")),
            origin: Origin(topic: "receipts.submitted", partition: 0, offset: offset), receivedAt: Self.now)
        return Decision(
            subject: .submission(submission), source: .record(Self.ownership), content: content, attempts: 1,
            decidedAt: Self.now.advanced(by: after), owesCall: false, tellsWaiting: false, repeats: .publish,
            doubtsNothingNew: false)
    }

    func grant(_ transaction: TransactionID) -> Decision.Content {
        let purchase = Purchase.sample(transaction, product: "com.example.gems", at: Self.now)
        let gems = Product(id: "com.example.gems", type: .consumable, items: [Item(item: "gems", quantity: 100)])
        guard let granted = GrantablePurchase(purchase, of: gems) else { preconditionFailure("a sample overflows") }
        return .grant([granted], by: .verifyReceipt)
    }

    static let failure = Decision.Content.fail(Rejection(.receiptNotAuthentic, "Said so."))
}
