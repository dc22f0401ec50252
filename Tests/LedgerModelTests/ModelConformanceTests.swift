import Contract
import Ledger
import LedgerConformance
import LedgerModel
import Testing

@Suite struct ModelConformanceTests {
    @Test("The model keeps every rule", arguments: LedgerConformance.rules)
    func conforms(_ rule: ConformanceRule) throws {
        let model = LedgerModel(now: Samples.noon)
        model.refuses = { decision in
            guard case .grant(let purchases, _) = decision.content else { return false }
            return purchases.contains { $0.purchase.transactionID == Samples.refusedTransaction }
        }
        try rule.check(model.subject)
    }
}
