import Contract
import Ledger
import Scheduling
import Testing

@testable import Processing

@Suite("Actions")
struct ActionTakerTests {
    /// Remembers which of its methods were called.
    private struct Taker: ActionTaker {
        var taken: [String] = []

        mutating func unassign(_ partitions: [TopicPartition]) { taken.append("unassign") }
        mutating func fetchCommitted(_ partitions: [TopicPartition]) { taken.append("fetchCommitted") }
        mutating func assign(_ assignments: [Assignment]) { taken.append("assign") }
        mutating func commit(_ offsets: [CommittedOffset]) { taken.append("commit") }
        mutating func demand(_ demand: Demand) { taken.append("demand") }
        mutating func check(_ tasks: [CheckTask]) { taken.append("check") }
        mutating func ask(_ tasks: [AttemptTask]) { taken.append("ask") }
        mutating func call(_ tasks: [CallTask]) { taken.append("call") }
        mutating func write(_ batches: [WriteBatch]) { taken.append("write") }
        mutating func request(_ requests: [LedgerRequest]) { taken.append("request") }
        mutating func publish(_ tasks: [PublishTask]) { taken.append("publish") }
        mutating func alert(_ alerts: [Alert]) { taken.append("alert") }
    }

    private let partition = Fixture.partition

    @Test("are all handed over, what is given up before what is assigned")
    func all() {
        var actions = Actions()
        let submission = Fixture.submission(0)
        let token = SubmissionToken(slot: 0, use: 1)
        actions.fetchCommitted = [partition]
        actions.assign = [Assignment(id: AssignmentID(rawValue: 1), partition: partition, start: nil, expected: nil)]
        actions.unassign = [partition]
        actions.commit = [CommittedOffset(partition: partition, offset: 1)]
        actions.demand = Demand()
        actions.checks = [CheckTask(token: token, work: .submission(submission), apps: Fixture.apps)]
        actions.attempts = [
            AttemptTask(
                token: token, submission: submission, question: Fixture.question(), attempts: 0, apps: Fixture.apps)
        ]
        actions.calls = [CallTask(token: OutboxToken(slot: 0, use: 1), grant: Fixture.grant, apps: Fixture.apps)]
        actions.writes = [WriteBatch(id: BatchID(rawValue: 1), decisions: [])]
        actions.requests = [LedgerRequest(id: RequestID(rawValue: 1), call: .checkpoint([]))]
        actions.publishes = [PublishTask(token: PublishToken(slot: 0, use: 1), event: Fixture.rendered("t1").event)]
        actions.alerts = [.outboxFull]
        var taker = Taker()
        actions.handOver(to: &taker)
        #expect(
            taker.taken == [
                "unassign", "fetchCommitted", "assign", "commit", "demand", "check", "ask", "call", "write", "request",
                "publish", "alert",
            ])
    }

    @Test("that are none are not handed over")
    func none() {
        var taker = Taker()
        Actions().handOver(to: &taker)
        #expect(taker.taken.isEmpty)
    }

    /// Eleven buffers, the demand, the next turn and the stop: a new one must be handed over, too.
    @Test("have no buffer that is not handed over")
    func size() {
        struct Known {
            let buffers: (Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int)
            let demand: Demand?
            let wakeAt: Instant?
            let stop: StopReason?
        }
        #expect(MemoryLayout<Actions>.stride == MemoryLayout<Known>.stride)
    }
}
