import Contract
import MemberTesting
import Testing

@Suite("Grant key")
struct GrantKeyTests {
    @Test("of a consumable goes by its transaction")
    func consumable() {
        #expect(GrantKey(of: Fixture.purchase("2", original: "1"), type: .consumable).text == "production:t:2")
    }

    @Test(
        "of a durable product goes by its first transaction, so that a restore is the same",
        arguments: [ProductType.nonConsumable, .nonRenewing])
    func durable(type: ProductType) {
        #expect(GrantKey(of: Fixture.purchase("2", original: "1"), type: type).text == "production:t:1")
    }

    @Test("of a subscription goes by its paid period")
    func subscription() {
        let withLineItem = Fixture.purchase("2", original: "1", lineItem: "77")
        #expect(GrantKey(of: withLineItem, type: .autoRenewable).text == "production:w:77")
        let withoutLineItem = Fixture.purchase("2", original: "1")
        #expect(GrantKey(of: withoutLineItem, type: .autoRenewable).text == "production:p:1:1790000000000")
    }

    @Test("does not make a first purchase look new when its type is corrected")
    func correctedType() {
        let keys = [ProductType.consumable, .nonConsumable, .nonRenewing].map {
            GrantKey(of: Fixture.purchase("1"), type: $0)
        }
        #expect(Set(keys).count == 1)
    }

    @Test("has the environment as a part, and comes back from its parts")
    func environment() {
        let key = GrantKey(of: Fixture.purchase("1", environment: .sandbox), type: .consumable)
        #expect(key.text == "sandbox:t:1")
        #expect(GrantKey(environment: .sandbox, name: "t:1") == key)
        #expect(GrantKey(environment: .production, name: "t:1") != key)
    }

    @Test("names its grant by the UUID of its text, for ever")
    func grantID() {
        #expect(
            GrantKey(environment: .production, name: "t:2795500070140189").grantID
                == "c9d6cee2-ac2f-5857-98d9-2e3b7c511ac8")
    }

    @Test("belongs to a purchase whose items do not grow beyond what can be counted")
    func overflow() {
        let product = Product(id: "gems", type: .consumable, items: [Item(item: "gems", quantity: .max)])
        #expect(GrantablePurchase(.sample("1", quantity: 2), of: product) == nil)
        #expect(GrantablePurchase(Fixture.purchase("1"), of: product)?.items == product.items)
    }
}
