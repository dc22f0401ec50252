import LedgerConformance
import PostgresTesting
import Purchases
import Testing

@testable import Ledger

@Suite struct PostgresLedgerTests {
    @Test(arguments: LedgerConformance.rules)
    func keepsEveryRuleOfLedgers(rule: ConformanceRule) async throws {
        let ledger = try await TemporaryPostgres().open()
        try await rule.check(ledger)
        await ledger.close()
    }
}
