import Contract
import Ledger
import Scheduling
import Testing

@testable import Processing

@Suite("A worker of a fleet")
final class FleetTests {
    private let bench = CoreBench()
    private let waiting = LedgerMeasure(
        retries: [], waiting: [.init(endpoint: Fixture.verifyReceipt, rows: 1)], outboxRows: 1, outboxAge: 0)

    private var dueRequests: [DueRequest]? {
        bench.takeRequest { if case .takeDue(let list, _) = $0 { list } else { nil } }?.content
    }
    private var outboxRequests: [OutboxRequest]? {
        bench.takeRequest { if case .takeOutbox(let list) = $0 { list } else { nil } }?.content
    }

    @Test("takes due rows and what is owed, also where no partition is left for it")
    func beyondPartitions() {
        bench.isNothingDue = false
        bench.measure = waiting
        bench.send(.assigned([]))
        bench.wait(.seconds(1))
        // With held rows, because the apps file is new.
        #expect(dueRequests?.map(\.endpoint) == [nil, Fixture.verifyReceipt])
        #expect(outboxRequests?.isEmpty == false)
    }

    @Test("does nothing at the ledger before its group has let it in")
    func outside() {
        bench.measure = waiting
        bench.wait(.seconds(60))
        #expect(bench.requestCount == 0)
    }

    /// Calls that a worker makes at once where 20 a second are allowed to all.
    private func calls(amid workers: Int) throws -> Int {
        let apps = AppsSnapshot(
            version: 2, endpoints: [EndpointLimit(endpoint: Fixture.serverAPI, rate: 20)], services: [], content: 0)
        bench.send(.apps(apps))
        bench.measure.workers = workers
        let assignment = try bench.own()
        bench.wait(.seconds(1))
        for offset in 0..<Int64(40) {
            bench.ask(try #require(bench.read(offset, in: assignment).first), Fixture.question(Fixture.serverAPI))
        }
        return bench.takeAttempts().count
    }

    @Test("shares an app's calls to the App Store Server API with the workers that live", arguments: [(1, 20), (4, 5)])
    func budget(workers: Int, share: Int) throws {
        #expect(try calls(amid: workers) == share)
    }
}
