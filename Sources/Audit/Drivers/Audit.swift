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
        var last: Int64 = 0
        while let page = try await snapshot.grants(after: last, limit: Self.pageSize).pageOrNil {
            for row in page { auditor.take(.grant(row)) }
            last = page.last?.sequence ?? last
        }
        last = 0
        while let page = try await snapshot.deliveries(after: last, limit: Self.pageSize).pageOrNil {
            for row in page { auditor.take(.delivery(row)) }
            last = page.last?.sequence ?? last
        }
        last = 0
        while let page = try await snapshot.quarantines(after: last, limit: Self.pageSize).pageOrNil {
            for row in page { auditor.take(.quarantine(row)) }
            last = page.last?.sequence ?? last
        }
        last = 0
        while let page = try await snapshot.submissions(after: last, limit: Self.pageSize).pageOrNil {
            for row in page { auditor.take(.submission(row)) }
            last = page.last?.sequence ?? last
        }
        last = 0
        while let page = try await snapshot.events(after: last, limit: Self.pageSize).pageOrNil {
            for entry in page { auditor.take(.event(entry)) }
            last = page.last?.sequence ?? last
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

extension Array {
    /// Nil after the last page.
    fileprivate var pageOrNil: Self? { isEmpty ? nil : self }
}
