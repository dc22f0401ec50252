import Contract
import Ledger
import LedgerConformance
import LedgerModel
import LedgerSQLite
import Testing

@Suite struct RandomComparisonTests {
    @Test("SQLite answers random calls as the model does", arguments: UInt64(0)..<40)
    func compares(seed: UInt64) throws {
        let file = TemporaryLedger()
        defer { file.remove() }
        try SQLiteLedger.migrate(file.configuration)
        let model = LedgerModel(now: Samples.noon)
        let ledgers = [
            ConformanceSubject(
                ledger: try SQLiteLedger(file.configuration), other: try SQLiteLedger(file.configuration),
                setClock: { file.clock.set($0) }),
            ConformanceSubject(
                ledger: model.connection(), other: model.connection(), setClock: { model.now = $0 }),
        ]
        try ledgers.forEach { try $0.own() }
        var plays = [RandomPlay(seed: seed), RandomPlay(seed: seed)]
        for step in 0..<200 {
            let found = try plays[0].step(ledgers[0])
            let wanted = try plays[1].step(ledgers[1])
            try #require(found == wanted, "seed \(seed), step \(step)")
        }
        #expect(try LedgerContent(of: ledgers[0].ledger) == LedgerContent(of: ledgers[1].ledger))
    }
}
