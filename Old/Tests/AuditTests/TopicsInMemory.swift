import Audit
import Fulfillment
import Kafka
import Ledger
import LedgerConformance
import Logging
import Purchases
import Synchronization

/// A deployment in memory beside a real ledger: topics of one partition each, which can lose their oldest records, and
/// something that happens each time an audit asks for anything.
final class Deployment: AuditedTopics {
    static let names = AuditedTopicNames(
        submitted: "receipts.submitted",
        outputs: OutputTopics(granted: "granted", failed: "failed", quarantined: "quarantined"))
    static let now = Timestamp(milliseconds: 1_795_000_000_000)

    private struct State {
        var records: [String: [TopicRecord]] = [:]
        var retained: [String: Int64] = [:]
        /// Nil for a group that never committed.
        var committed: Int64? = 0
        var count = 0
    }

    let ledger: SQLiteLedger
    private let folder: TemporaryFolder
    private let state = Mutex(State())
    /// What a worker does whenever the audit looks away.
    private let meanwhile = Mutex<(@Sendable (Deployment) async throws -> Void)?>(nil)

    init() async throws {
        folder = try TemporaryFolder()
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        ledger = try await SQLiteLedger.open(
            SQLiteLedgerConfiguration(path: folder.path("ledger.db"), migrate: true), logger: logger)
    }

    func meanwhile(_ work: @escaping @Sendable (Deployment) async throws -> Void) {
        meanwhile.withLock { $0 = work }
    }

    /// Takes a submission all the way: onto the topic, into the ledger, out to the granted topic, committed.
    func play(at time: Timestamp = now) async throws {
        let index = state.withLock { state in
            state.count += 1
            return state.count
        }
        let value = #"{"submissionId":"s-\#(index)","userId":"alice","bundleId":"\#(Samples.bundle)","receipt":"AAAA"}"#
        let offset = write(Self.names.submitted, nil, Array(value.utf8), [], time)
        let settlement = Settlement(
            claimant: Claimant(submissionID: SubmissionID("s-\(index)"), userID: "alice", bundleID: Samples.bundle),
            fingerprint: "f", origin: Origin(topic: Self.names.submitted, partition: 0, offset: offset),
            receivedAt: time, attempts: 1,
            decision: .grant([Samples.purchase(TransactionID("\(index)"))], by: .verifyReceipt))
        let added = try await ledger.settle([settlement], quarantines: [], now: time).added ?? []
        for entry in added { publish(entry.event, at: time) }
        _ = try await ledger.takeRelay("w", for: .seconds(60), now: time)
        _ = try await ledger.published(
            RelayNote(through: added.last?.sequence ?? 0), by: "w", for: .seconds(60), now: time)
        state.withLock { $0.committed = offset + 1 }
    }

    func publish(_ event: Event, at time: Timestamp = now) {
        _ = write(Self.names.outputs[event.kind], event.key, event.value, event.headers, time)
    }

    @discardableResult
    func write(
        _ topic: String, _ key: [UInt8]?, _ value: [UInt8]?, _ headers: [EventHeader], _ time: Timestamp
    ) -> Int64 {
        state.withLock { state in
            let offset = Int64(state.records[topic]?.count ?? 0)
            state.records[topic, default: []].append(
                TopicRecord(
                    partition: TopicPartition(topic: topic, partition: 0), offset: offset, timestamp: time, key: key,
                    value: value, headers: headers))
            return offset
        }
    }

    /// Lets a topic lose its records before an offset.
    func forget(_ topic: String, before offset: Int64) {
        state.withLock { $0.retained[topic] = offset }
    }

    /// Lets the group have no offset, as one has that nobody ever was in.
    func loseOffsets() { state.withLock { $0.committed = nil } }

    func audit(drained: Bool) async throws -> AuditReport {
        try await Audit(ledger: ledger, topics: self, names: Self.names).run(drained: drained)
    }

    func committed() async throws(KafkaError) -> [TopicPartition: Int64] {
        let partition = TopicPartition(topic: Self.names.submitted, partition: 0)
        let committed = state.withLock(\.committed).map { [partition: $0] } ?? [:]
        await lookAway()
        return committed
    }

    func offsets() async throws(KafkaError) -> [TopicPartition: Range<Int64>] {
        await lookAway()
        let offsets = state.withLock { state in
            Dictionary(
                uniqueKeysWithValues: Self.names.all.map { topic in
                    let end = Int64(state.records[topic]?.count ?? 0)
                    return (TopicPartition(topic: topic, partition: 0), (state.retained[topic] ?? 0)..<end)
                })
        }
        await lookAway()
        return offsets
    }

    func read(
        _ stretches: [TopicPartition: Range<Int64>], _ take: (TopicRecord) -> Void
    ) async throws(KafkaError) {
        await lookAway()
        for record in state.withLock({ $0.records.values.flatMap { $0 } })
        where stretches[record.partition]?.contains(record.offset) ?? false {
            take(record)
        }
        await lookAway()
    }

    private func lookAway() async {
        // A failure shows as something missing in the report's counts.
        try? await meanwhile.withLock { $0 }?(self)
    }
}
