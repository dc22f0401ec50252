import Contract
import Logging
import Metrics
import Scheduling
import Testing
import Threading

@testable import Kafka
@testable import Processing
@testable import Worker

/// Events of the consumer as the core and the process hear of them.
@Suite struct KafkaConsumerDriverTests {
    private let core: Mailbox<CoreMail>
    private let events: Mailbox<ProcessEvent>
    private let activity = CoreActivity(checkers: 1)
    private let partition = TopicPartition(topic: "receipts.submitted", partition: 3)

    init() throws {
        core = try Mailbox(bound: 100)
        events = try Mailbox(bound: 100)
    }

    private func receive(_ event: KafkaConsumerEvent) -> [Input] {
        KafkaConsumerDriver.received(
            event, core: core, events: events, metrics: WorkerMetrics(PrometheusRegistry()), activity: activity,
            joined: { _ in })
        var taken: [CoreMail] = []
        core.takeAll(into: &taken)
        return taken.compactMap { if case .input(let input) = $0 { input } else { nil } }
    }

    @Test("A worker is ready while it is a member, Kafka is reachable and the ledger answers")
    func ready() {
        #expect(activity.hindrance(at: .now) == "The group has not let the worker in.")
        _ = receive(.assigned([]))
        #expect(activity.hindrance(at: .now) == nil)
        _ = receive(.reachable(false))
        #expect(activity.hindrance(at: .now) == "Kafka is unreachable.")
        _ = receive(.reachable(true))
        _ = receive(.revoked([partition]))
        #expect(activity.hindrance(at: .now) == nil, "a rebalance leaves it a member")
        activity.turned(at: .now, isLedgerAway: true)
        #expect(activity.hindrance(at: .now) == "The ledger does not answer.")
        activity.turned(at: .now, isLedgerAway: false)
        _ = receive(.lost([partition]))
        #expect(activity.hindrance(at: .now) == "The group has not let the worker in.")
    }

    @Test("A consumer or a core without a sign of life for half a minute hangs")
    func alive() {
        let start = Instant.now
        activity.turned(at: start, isLedgerAway: false)
        activity.heard(at: start)
        #expect(activity.silent(at: start + .seconds(29)) == nil)
        activity.turned(at: start + .seconds(20), isLedgerAway: false)
        #expect(activity.silent(at: start + .seconds(30)) == "The Kafka consumer")
        activity.heard(at: start + .seconds(25))
        #expect(activity.silent(at: start + .seconds(50)) == "The core")
        activity.heard(at: start)
        activity.turned(at: start + .seconds(3600), isLedgerAway: false)
        _ = receive(.alive)
        #expect(activity.silent(at: start + .seconds(30)) == nil)
    }

    @Test("A partition whose records come damaged is the core's to read again")
    func unreadable() {
        let inputs = receive(.unreadable(partition, assignmentID: 7, at: 173))
        guard inputs.count == 1, case .unreadable(AssignmentID(rawValue: 7), at: 173) = inputs[0] else {
            Issue.record("\(inputs)")
            return
        }
    }

    @Test("Lost partitions are revoked ones to the core")
    func lost() {
        guard case .revoked(let partitions) = receive(.lost([partition])).first else {
            Issue.record("not revoked")
            return
        }
        #expect(partitions == [TopicPartition(topic: "receipts.submitted", partition: 3)])
    }

    @Test("Records are handed on with the number of their assignment")
    func records() {
        let record = InputRecord(
            origin: Origin(topic: "receipts.submitted", partition: 3, offset: 41), key: [1], value: [2, 3],
            headers: [RecordHeader(name: "traceparent", value: [4])], timestamp: Timestamp(milliseconds: 7))
        let inputs = receive(.records([KafkaBatch(partition: partition, assignmentID: 9, records: [record])]))
        guard inputs.count == 1, case .records(let batch) = inputs[0] else {
            Issue.record("\(inputs)")
            return
        }
        #expect(batch.assignment == AssignmentID(rawValue: 9))
        #expect(batch.records == [record])
    }

    @Test("Offsets that went back are a new take-over of the partition")
    func wentBack() {
        let inputs = receive(.offsetsWentBack(partition, assignmentID: 7))
        guard inputs.count == 1, case .wentBack(AssignmentID(rawValue: 7)) = inputs[0] else {
            Issue.record("\(inputs)")
            return
        }
    }

    /// Why the process is to end, if it is.
    private func takeEnds() -> [String] {
        var taken: [ProcessEvent] = []
        events.takeAll(into: &taken)
        return taken.compactMap { if case .clientFailed(let cause) = $0 { cause } else { nil } }
    }

    @Test("Only an error after which the client cannot go on ends the process")
    func fatal() {
        _ = receive(.committedOffsets(nil))
        let passing = KafkaFailure(code: -195, name: "_TRANSPORT", text: "a broker is away")
        _ = receive(.failed(.transient(passing)))
        _ = receive(.failed(.denied(passing)))
        #expect(takeEnds().isEmpty)
        _ = receive(.failed(.fatal(KafkaFailure(code: 82, name: "FENCED_INSTANCE_ID", text: "OffsetCommit failed"))))
        #expect(takeEnds() == ["Kafka: another worker has the same kafka.groupInstanceId; each needs its own"])
        _ = receive(.failed(.resourcesExhausted("no thread")))
        #expect(takeEnds() == ["Kafka: no thread"])
        _ = receive(.stopped)
        #expect(takeEnds().count == 1, "a consumer that ends by itself reads nothing any more")
    }
}
