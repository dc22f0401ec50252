import Ledger
import LedgerConformance
import Contract
import Testing

@Suite struct GrantKeyTests {
    @Test func aConsumableGoesByItsTransaction() {
        #expect(GrantKey(of: Samples.purchase("2", original: "1", type: .consumable)).text == "production:t:2")
    }

    @Test(arguments: [ProductType.nonConsumable, .nonRenewing])
    func aDurableProductGoesByItsFirstTransactionSoThatARestoreIsTheSame(type: ProductType) {
        #expect(GrantKey(of: Samples.purchase("2", original: "1", type: type)).text == "production:t:1")
    }

    @Test func aSubscriptionGoesByItsPaidPeriod() {
        let key = GrantKey(of: Samples.purchase("2", original: "1", type: .autoRenewable, lineItem: "77"))
        #expect(key.text == "production:w:77")
    }

    @Test func aSubscriptionWithoutALineItemGoesByFirstTransactionAndMoment() {
        let key = GrantKey(of: Samples.purchase("2", original: "1", type: .autoRenewable))
        #expect(key.text == "production:p:1:1790000000000")
    }

    @Test func aCorrectedTypeDoesNotMakeAFirstPurchaseLookNew() {
        let keys = [ProductType.consumable, .nonConsumable, .nonRenewing].map {
            GrantKey(of: Samples.purchase("1", type: $0))
        }
        #expect(Set(keys).count == 1)
    }

    @Test func theEnvironmentIsPartOfTheKey() {
        #expect(GrantKey(of: Samples.purchase("1", environment: .sandbox)).text == "sandbox:t:1")
    }

    @Test func theGrantIDIsTheNameBasedUUIDOfTheText() {
        let key = GrantKey(of: Samples.purchase("1"))
        #expect(
            key.grantID.rawValue
                == NameBasedUUID.text(namespace: NameBasedUUID.grants, name: "production:t:1"))
    }
}
