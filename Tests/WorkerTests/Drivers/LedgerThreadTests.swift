import Contract
import Ledger
import LedgerModel
import Logging
import MemberTesting
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
    private let registry = PrometheusRegistry()
    private let thread: LedgerThread
    private static let partition = TopicPartition(topic: "receipts.submitted", partition: 0)

    init() throws {
        core = try Mailbox(bound: 100)
        let ledger = ledger
        thread = try LedgerThread(
            .side, core: core, clock: clock, metrics: WorkerMetrics(registry),
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
        #expect(registry.render().contains("grantor_clock_lead_seconds 90\n"), "and people can see it")
        thread.stop()
    }

    @Test("A grant's time is measured by the ledger's clock, so that a host's clock that is off makes no answer late")
    func clocks() throws {
        thread.post([takeOver(1)], losses: 0)
        _ = next()
        // The ledger's clock is 90 seconds ahead of this host's, and the record is a minute old by it.
        let receivedAt = Timestamp.now.advanced(by: .seconds(30))
        thread.post([.write(WriteBatch(id: BatchID(rawValue: 1), decisions: [try grant(receivedAt)]))], losses: 0)
        guard case .input(.written(_, .success(let results))) = next(), case .written(.granted, _, _) = results.first
        else {
            Issue.record("it was not granted")
            return
        }
        thread.stop()
        let sum = registry.render().split(separator: "\n").first { $0.contains("received_to_written_seconds_sum ") }
        #expect(sum.map { $0.hasSuffix(" 0") } == false, "\(sum ?? "")")
    }

    private func grant(_ receivedAt: Timestamp) throws -> Decision {
        let product = Product(id: "gems", type: .consumable, items: [Item(item: "gems", quantity: 1)])
        let granted = try #require(GrantablePurchase(.sample("1"), of: product))
        let origin = Origin(topic: Self.partition.topic, partition: Self.partition.partition, offset: 0)
        let claimant = Claimant(
            submissionID: "s", userID: "u", bundleID: "com.example.game", orderID: nil, traceparent: nil)
        return Decision(
            subject: .submission(
                Submission(
                    claimant: claimant, claim: .nothing, evidence: .receipt(base64: "AAAA"), origin: origin,
                    receivedAt: receivedAt)),
            source: .record(PartitionOwnership(partition: Self.partition, generation: Generation(rawValue: 1))),
            content: .grant([granted], by: .verifyReceipt), attempts: 1, decidedAt: receivedAt, owesCall: false,
            tellsWaiting: false, repeats: .publish, doubtsNothingNew: false)
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
