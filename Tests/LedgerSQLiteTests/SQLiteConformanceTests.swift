import Contract
import Ledger
import LedgerConformance
import LedgerSQLite
import Testing

@Suite struct SQLiteConformanceTests {
    @Test("SQLite keeps every rule", arguments: LedgerConformance.rules)
    func conforms(_ rule: ConformanceRule) throws {
        let file = TemporaryLedger()
        defer { file.remove() }
        try SQLiteLedger.migrate(file.configuration)
        try rule.check(
            ConformanceSubject(
                ledger: try SQLiteLedger(file.configuration), other: try SQLiteLedger(file.configuration),
                setClock: { file.clock.set($0) }))
    }
}
