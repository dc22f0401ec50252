import Fulfillment
import Kafka
public import Ledger

/// Reads a ledger and its topics and has them judged. Changes nothing, and may run beside workers.
public struct Audit: Sendable {
    /// Rows asked for at a time.
    static let pageSize = 500

    private let ledger: any LedgerReader
    private let topics: any AuditedTopics
    private let names: AuditedTopicNames

    /// An audit of a deployment.
    public init(ledger: any LedgerReader, topics: any AuditedTopics, names: AuditedTopicNames) {
        self.ledger = ledger
        self.topics = topics
        self.names = names
    }

    /// Runs once.
    ///
    /// - Parameter drained: whether all that came in is settled and published, so that everything must be there.
    public func run(drained: Bool) async throws(AuditError) -> AuditReport {
        // The order of these is what lets workers go on meanwhile. Each invariant says "if A, then B", where B is made
        // first and never unmade; so A is looked at first. Published (A) is on the topic (B): the relay before the topics.
        // Committed (A) is in the ledger (B), on the topic (A) is in the outbox (B): the topics' ends before the ledger.
        let relay = try await asking { () async throws(LedgerError) in try await ledger.relay() }
        let (committed, offsets) = try await bounds()
        var auditor = Auditor(
            names: names, bounds: AuditBounds(relay: relay, committed: committed, offsets: offsets), drained: drained)
        do throws(KafkaError) {
            try await topics.read(offsets) { auditor.take(.record($0)) }
        } catch {
            throw .kafka(error)
        }
        // The ledger's rows are compared with each other in both directions, so they are all of one moment.
        let snapshot = try await asking { () async throws(LedgerError) in try await ledger.snapshot() }
        do throws(LedgerError) {
            try await read(snapshot, &auditor)
        } catch {
            await snapshot.close()
            throw .ledger(error)
        }
        await snapshot.close()
        return auditor.report()
    }

    private func bounds() async throws(AuditError) -> ([TopicPartition: Int64], [TopicPartition: Range<Int64>]) {
        do throws(KafkaError) {
            return (try await topics.committed(), try await topics.offsets())
        } catch {
            throw .kafka(error)
        }
    }

    private func read(_ snapshot: any LedgerSnapshot, _ auditor: inout Auditor) async throws(LedgerError) {
        try await readAll(snapshot.grants, \.sequence) { auditor.take(.grant($0)) }
        try await readAll(snapshot.deliveries, \.sequence) { auditor.take(.delivery($0)) }
        try await readAll(snapshot.quarantines, \.sequence) { auditor.take(.quarantine($0)) }
        try await readAll(snapshot.submissions, \.sequence) { auditor.take(.submission($0)) }
        try await readAll(snapshot.events, \.sequence) { auditor.take(.event($0)) }
    }

    /// Reads a table page by page, in the order of its sequence, until a page is empty.
    private func readAll<Row>(
        _ page: (_ last: Int64, _ limit: Int) async throws(LedgerError) -> [Row], _ sequence: (Row) -> Int64,
        _ take: (Row) -> Void
    ) async throws(LedgerError) {
        var last: Int64 = 0
        while true {
            let rows = try await page(last, Self.pageSize)
            guard let end = rows.last else { return }
            for row in rows { take(row) }
            last = sequence(end)
        }
    }

    private func asking<Answer>(
        _ question: () async throws(LedgerError) -> Answer
    ) async throws(AuditError) -> Answer {
        do throws(LedgerError) {
            return try await question()
        } catch {
            throw .ledger(error)
        }
    }
}
