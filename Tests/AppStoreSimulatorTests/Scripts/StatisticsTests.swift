import Contract
import Testing

@testable import AppStoreSimulator

struct StatisticsTests {
    @Test("Peaks stay when their cause is over")
    func peaks() {
        var statistics = Statistics()
        statistics.requestStarted()
        statistics.requestStarted()
        statistics.requestEnded()
        statistics.connectionOpened()
        statistics.connectionClosed()
        #expect(statistics.inFlight == 1)
        #expect(statistics.inFlightPeak == 2)
        #expect(statistics.connections == 0)
        #expect(statistics.connectionsPeak == 1)
    }

    @Test("Transactions are counted up to a limit")
    func transactions() {
        var statistics = Statistics()
        let all = (0...Statistics.transactionLimit).map { TransactionID("\($0)") }
        statistics.count(callAbout: all)
        statistics.count(callAbout: ["0"])
        #expect(statistics.callsByTransaction.count == Statistics.transactionLimit)
        #expect(statistics.callsByTransaction["0"] == 2)
        #expect(statistics.callsNotKept == 1)
    }

    @Test("Environments are counted apart")
    func environments() {
        var statistics = Statistics()
        statistics.count(in: .sandbox) { $0.calls += 1 }
        #expect(statistics.production.calls == 0)
        #expect(statistics.sandbox.calls == 1)
    }
}
