import Contract
import Foundation
import Kafka
import KafkaScanning
import KafkaTesting
import Ledger
import LedgerPostgres
import PostgresTesting
import Scheduling
import Threading

/// Fills topics and a ledger as workers would, only faster: each submission is read, granted and told.
final class FilledLedger {
    /// Grants of each write at a steady pace, and their number in a second.
    private static let steps = (batch: 100, pace: 1000)
    private static let generation = Generation(rawValue: 1)
    /// Bytes that stand for a submission's evidence.
    private static let evidence = String(repeating: "cmVjZWlwdCByZWNlaXB0IHJlY2VpcHQg", count: 20)

    private let stage: Stage
    private let ledger: PostgresLedger
    private let writer: RecordWriter
    private var transactions = 4_000_000_000_000_000
    private var random = SystemRandomNumberGenerator()

    init(_ stage: Stage) throws {
        self.stage = stage
        guard let server = stage.database else { throw BenchFailure("there is no server") }
        ledger = try PostgresLedger(try PostgresLedgerConfiguration(url: server.url(database: "grantor")))
        writer = try RecordWriter(stage.kafka.client)
        let owned = (0..<Int32(Stage.partitions)).map { number in
            TakeOver(ownership: Self.ownership(of: number), owner: "bench", committed: nil)
        }
        _ = try ledger.takeOver(owned)
    }

    private static func ownership(of partition: Int32) -> PartitionOwnership {
        PartitionOwnership(
            partition: TopicPartition(topic: Topic.submitted.defaultName, partition: partition), generation: generation)
    }

    func fill(_ count: Int) throws {
        for number in 0..<count {
            let user = "player-\(random.next() as UInt64)"
            let text = """
                {"submissionId":"order-\(number)","userId":"\(user)","bundleId":"\(Stage.app)","receipt":"\(Self.evidence)"}
                """
            writer.write(
                KafkaProducerRecord(
                    topic: Topic.submitted.defaultName, key: Array(user.utf8), value: Array(text.utf8)))
        }
        try writer.flush()
        Console.tell("\(count) submissions are on their topic\n")
        var done = 0
        var failure: (any Error)?
        try stage.scan.read(topics: [Topic.submitted.defaultName]) { batch in
            do {
                for start in stride(from: 0, to: batch.records.count, by: 500) {
                    try grant(Array(batch.records[start...].prefix(500)))
                }
                let end = (batch.records.last?.origin.offset ?? 0) + 1
                _ = try ledger.checkpoint([
                    OffsetCheckpoint(ownership: Self.ownership(of: batch.partition.partition), next: end)
                ])
            } catch {
                failure = error
            }
            done += batch.records.count
            if done % 100_000 < batch.records.count { Console.tell("\(done) are granted\r") }
            return failure == nil
        }
        if let failure { throw failure }
        try writer.flush()
        try stage.database?.run("ANALYZE", database: "grantor")
    }

    private func grant(_ records: [InputRecord]) throws {
        let now = Timestamp.now
        var decisions: [Decision] = []
        for record in records {
            guard case .submission(let submission) = SubmissionReading(record, now: now) else {
                throw BenchFailure("a submission cannot be read")
            }
            decisions.append(try decision(on: submission, at: now))
        }
        for result in try ledger.write(decisions) {
            guard case .written(_, let events, _) = result else { throw BenchFailure("a decision was not written") }
            for rendered in events {
                let event = rendered.event
                writer.write(
                    KafkaProducerRecord(
                        topic: event.topic.defaultName, key: event.key, value: event.value, headers: event.headers))
            }
        }
    }

    private func decision(on submission: Submission, at now: Timestamp) throws -> Decision {
        transactions += 1
        return try .granting(
            TransactionID(String(transactions)), to: submission, purchasedAt: now,
            under: Self.ownership(of: submission.origin.partition), at: now)
    }

    /// Writes that were made at a steady pace.
    struct Writes {
        /// Grants a second.
        let rate: Double
        /// Milliseconds that each write took.
        let times: Percentiles
    }

    /// Writes grants at a steady pace, as of records that are not complete.
    func write(for least: Duration = .zero, until isOver: () -> Bool = { true }) throws -> Writes {
        let pause = Duration.seconds(1) * Self.steps.batch / Self.steps.pace
        let start = Instant.now
        var (next, times) = (start, [Int64]())
        while Instant.now - start < least || !isOver() {
            let decisions = try (0..<Self.steps.batch).map { _ in try late() }
            let before = Instant.now
            _ = try ledger.write(decisions)
            times.append(Int64((Instant.now - before) / .milliseconds(1)))
            next = next + pause
            EvenPace.wait(until: next)
        }
        let count = Double(times.count * Self.steps.batch)
        return Writes(rate: count / ((Instant.now - start) / .seconds(1)), times: Percentiles(times))
    }

    private func late() throws -> Decision {
        let now = Timestamp.now
        let id = "late-\(transactions)"
        let submission = Submission(
            claimant: Claimant(
                submissionID: SubmissionID(id), userID: UserID(id), bundleID: Stage.app, orderID: nil,
                traceparent: nil),
            claim: .nothing, evidence: .signedTransaction(""),
            origin: Origin(
                topic: Topic.submitted.defaultName, partition: 0,
                offset: 1_000_000_000 + Int64(transactions % 1_000_000_000)),
            receivedAt: now)
        return try decision(on: submission, at: now)
    }

    /// Fills the ledger with failures of long ago, faster than workers write them.
    func fillFailures(_ count: Int) throws {
        let now = Timestamp.now
        let submission = try late().subject
        let decision = Decision(
            subject: submission, source: .record(Self.ownership(of: 0)),
            content: .fail(Rejection(.signatureInvalid, "the signature is not Apple's")), attempts: 1, decidedAt: now,
            owesCall: false, tellsWaiting: false, repeats: .publish, doubtsNothingNew: false)
        guard case .written = try ledger.write([decision]).first else { throw BenchFailure("no failure was written") }
        let copied = "answered_at, origin_partition, attempts, format, app, reason, detail, digest"
        let step = 500_000
        for start in stride(from: 0, to: count, by: step) {
            try stage.database?.run(
                """
                INSERT INTO answers (\(copied), submission_id, user_id, origin_offset)
                SELECT answered_at - 100 * 86400000::bigint, \(copied.drop { $0 != " " }.dropFirst()),
                    'old-' || n, md5(random()::text), n
                FROM generate_series(\(start), \(min(count, start + step) - 1)) AS n,
                    (SELECT * FROM answers ORDER BY sequence LIMIT 1) AS one
                """, database: "grantor")
            Console.tell("\(start + step) failures\r")
        }
        try stage.database?.run("VACUUM ANALYZE", database: "grantor")
        try stage.database?.run("CHECKPOINT", database: "grantor")
    }
}
