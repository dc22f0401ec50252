import Contract
import Ledger
import LedgerModel
import Logging
import Metrics
import Scheduling
import Synchronization
import Testing
import Threading

@testable import Processing
@testable import Worker

/// A connection to the ledger on a thread of its own.
@Suite struct LedgerThreadTests {
    /// A ledger that the test's thread and the connection's take turns with: each waits for the other's message.
    private final class SharedLedger: @unchecked Sendable {
        let model = LedgerModel(now: Timestamp(milliseconds: 1_000))
    }

    private let ledger = SharedLedger()
    private let core: Mailbox<CoreMail>
    private let clock = LedgerClock()
    private let thread: LedgerThread
    private static let partition = TopicPartition(topic: "receipts.submitted", partition: 0)

    init() throws {
        core = try Mailbox(bound: 100)
        let ledger = ledger
        thread = try LedgerThread(
            .side, core: core, clock: clock, metrics: WorkerMetrics(PrometheusRegistry()),
            logger: Logger(label: "test", level: .critical, handler: LineLogHandler(format: .text)),
            open: { () throws(LedgerError) in
                let connection = ledger.model.connection()
                connection.clockLead = 90_000
                return connection
            },
            demandGroup: { (connection) throws(LedgerError) in
                guard try connection.bind(to: Self.group) == Self.group else {
                    throw .unusable(detail: "another group's")
                }
            })
    }

    private static let group = ConsumerGroup(name: "grantor", cluster: nil) { $0.defaultName }

    private func takeOver(_ generation: Int64) -> LedgerThread.Work {
        .request(
            LedgerRequest(
                id: RequestID(rawValue: UInt64(generation)),
                call: .takeOver([
                    TakeOver(
                        ownership: PartitionOwnership(
                            partition: Self.partition, generation: Generation(rawValue: generation)),
                        owner: "test", committed: nil)
                ])))
    }

    /// The next message for the core.
    private func next() -> CoreMail? {
        var taken: [CoreMail] = []
        while taken.isEmpty {
            guard core.wake.wait(until: .now + .seconds(180)) else { return nil }
            core.takeAll(into: &taken)
        }
        return taken.first
    }

    @Test("A call is carried out, and its answer goes to the core")
    func answers() {
        thread.post([takeOver(1)], losses: 0)
        guard case .input(.ledger(let id, .success(.takenOver(let results)))) = next() else {
            Issue.record("no answer")
            return
        }
        #expect(id == RequestID(rawValue: 1))
        #expect(results.count == 1)
        #expect(clock.moment(of: Timestamp(milliseconds: 5)).milliseconds == 90_005, "the ledger's clock is known")
        thread.stop()
    }

    @Test("Before a take-over and a sample the worker looks whose the ledger is, and ends once it is another group's")
    func moved() throws {
        let other = ledger.model.connection()
        let another = ConsumerGroup(name: "another", cluster: nil) { $0.defaultName }
        _ = try other.bind(to: another)
        let measure = LedgerRequest.Call.measure(WorkerSign(id: 1, name: "worker", version: "1"))
        for work in [takeOver(1), .request(LedgerRequest(id: RequestID(rawValue: 2), call: measure))] {
            thread.post([work], losses: 0)
            guard case .input(.ledger(_, .failure(.unusable))) = next() else {
                Issue.record("it went on")
                return
            }
        }
        #expect(try other.partitions().isEmpty)
        thread.stop()
    }

    @Test("A lost connection is told with the number of losses, and the next call has a new one")
    func loses() {
        ledger.model.fault = { _ in .lost }
        thread.post([takeOver(1)], losses: 0)
        guard case .lost(.side, losses: 1, .ledger(_, .failure(.disconnected))) = next() else {
            Issue.record("the loss was not told")
            return
        }
        ledger.model.fault = nil
        thread.post([takeOver(2)], losses: 1)
        guard case .input(.ledger(_, .success(.takenOver))) = next() else {
            Issue.record("there is no new connection")
            return
        }
        thread.stop()
    }

    @Test("A call that the core made before it heard of a loss is not carried out on the new connection")
    func dropsOldCalls() {
        ledger.model.fault = { _ in .lost }
        thread.post([takeOver(1)], losses: 0)
        _ = next()
        ledger.model.fault = nil
        thread.post([takeOver(2)], losses: 0)
        guard case .lost(.side, losses: 1, .ledger(let id, .failure(.disconnected))) = next() else {
            Issue.record("the old call was carried out")
            return
        }
        #expect(id == RequestID(rawValue: 2))
        thread.stop()
    }
}
