import Contract
import Ledger
import LedgerConformance
import Testing

@testable import LedgerSQLite

@Suite struct SQLiteConformanceTests {
    private let file = TemporaryLedger()

    @Test("SQLite keeps every rule", arguments: LedgerConformance.rules + LedgerConformance.laterRules)
    func conforms(_ rule: ConformanceRule) throws {
        try SQLiteLedger.migrate(file.configuration)
        let ledger = try SQLiteLedger(file.configuration)
        try rule.check(
            ConformanceSubject(
                ledger: ledger, other: try SQLiteLedger(file.configuration), setClock: { file.clock.set($0) },
                run: { sql in
                    guard sql.hasPrefix("SELECT") else {
                        try ledger.database.run(sql)
                        return nil
                    }
                    return try ledger.database.text(sql)
                }))
    }
}
