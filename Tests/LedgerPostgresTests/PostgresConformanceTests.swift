import Contract
import Ledger
import LedgerConformance
import LedgerModel
import Testing

@testable import LedgerPostgres

@Suite struct PostgresConformanceTests {
    @Test("PostgreSQL keeps every rule", arguments: LedgerConformance.rules)
    func conforms(_ rule: ConformanceRule) throws {
        let database = try TemporaryLedger()
        defer { database.remove() }
        try rule.check(try database.subject())
    }

    @Test("PostgreSQL answers random calls as the model does", arguments: UInt64(0)..<40)
    func compares(seed: UInt64) throws {
        let database = try TemporaryLedger()
        defer { database.remove() }
        let model = LedgerModel(now: Samples.noon)
        let ledgers = [
            try database.subject(),
            ConformanceSubject(ledger: model.connection(), other: model.connection(), setClock: { model.now = $0 }),
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
