import Contract
import Ledger
import LedgerModel
import PostgresTesting
import Testing

@testable import LedgerConformance
@testable import LedgerPostgres

@Suite struct CutTests {
    private let database: TemporaryLedger

    init() throws { database = try TemporaryLedger() }

    @Test(
        "A session that is cut at any round trip of its writes leaves nothing half done, and the same writes again end as if it had not been",
        arguments: PostgresProxy.Moment.allCases, UInt64(0)..<4)
    func cut(_ cut: PostgresProxy.Moment, seed: UInt64) throws {
        _ = try database.subject().own()
        let proxy = try PostgresProxy(database.server)
        defer { proxy.stop() }
        let configuration = try database.configuration(behind: proxy)
        let model = LedgerModel(now: Samples.noon)
        let reader = model.connection()
        try ConformanceSubject(ledger: reader, other: reader, setClock: { _ in }).own()

        var play = RandomPlay(seed: seed)
        var roundTrips = 1
        var cuts = 0
        for _ in 0..<30 {
            let batch = play.batch()
            var ledger = try PostgresLedger(configuration)
            proxy.cut(after: roundTrips, cut)
            do {
                _ = try ledger.write(batch)
                // It took fewer round trips than that: the next batch begins with the first one again.
                #expect(proxy.isArmed)
                proxy.disarm()
                roundTrips = 1
            } catch {
                cuts += 1
                roundTrips += 1
                ledger = try PostgresLedger(configuration)
                _ = try ledger.write(batch)
            }
            // Once more, for what depends on another submission of its batch.
            _ = try ledger.write(batch)
            for _ in 0..<2 { _ = try reader.write(batch) }
            try #require(try LedgerContent(of: ledger) == LedgerContent(of: reader), "round trip \(roundTrips)")
        }
        #expect(cuts > 15)
    }
}
