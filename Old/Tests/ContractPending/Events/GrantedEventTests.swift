import Contract
import Testing

@Suite("Granted event")
struct GrantedEventTests {
    private func event(of purchase: Purchase, to claimant: Claimant = EventFixture.claimant) -> Event {
        GrantedEvent.event(
            grant: "e907e90a-c826-592e-8534-c0eb835bbb68",
            of: GrantablePurchase(
                purchase: purchase, type: .autoRenewable, items: [Item(item: "vip", quantity: 1)]),
            to: claimant, by: .verifyReceipt, grantedAt: EventFixture.moment)
    }

    private let full = Purchase(
        transactionID: "2", originalTransactionID: "1", webOrderLineItemID: "7", productID: "vip",
        environment: .sandbox,
        purchasedAt: EventFixture.moment, expiresAt: EventFixture.moment.advanced(by: .seconds(1)))

    @Test("is the same bytes on every machine and every time")
    func bytes() {
        let expected = """
            {"bundleId":"com.example.game","environment":"sandbox","eventId":"4c62db70-e643-52b8-8e26-cb98c2bd6a62",\
            "expiresAt":"2026-11-21T04:59:14.250Z","grantId":"e907e90a-c826-592e-8534-c0eb835bbb68",\
            "grantedAt":"2026-11-21T04:59:13.250Z","items":[{"item":"vip","quantity":1}],"orderId":"order-1",\
            "originalTransactionId":"1","ownership":"purchased","productId":"vip","productType":"autoRenewable",\
            "purchasedAt":"2026-11-21T04:59:13.250Z","quantity":1,"submissionId":"order-1:1","transactionId":"2",\
            "userId":"player-1","verifiedBy":"verifyReceipt","webOrderLineItemId":"7"}
            """
        #expect(EventFixture.text(event(of: full)) == expected)
        #expect(event(of: full) == event(of: full))
    }

    @Test("leaves out what is not known, and nothing else")
    func optionalMembers() throws {
        let bare = Purchase(
            transactionID: "2", originalTransactionID: "2", productID: "gems", environment: .production,
            purchasedAt: EventFixture.moment)
        let claimant = Claimant(submissionID: "s", userID: "u", bundleID: "b")
        let names = Set(try EventFixture.members(of: event(of: bare, to: claimant)).keys)
        let all = Set(try EventFixture.members(of: event(of: full)).keys)
        #expect(all.subtracting(names) == ["orderId", "webOrderLineItemId", "expiresAt"])
        #expect(names.isSubset(of: all))
        #expect(try EventFixture.headers(of: event(of: bare, to: claimant))["traceparent"] == nil)
    }

    @Test("has CloudEvents headers, the transaction as subject and the user as key")
    func headers() throws {
        let event = event(of: full)
        #expect(event.kind == .granted)
        #expect(event.key == Array("player-1".utf8))
        #expect(event.id == GrantedEvent.id(of: "e907e90a-c826-592e-8534-c0eb835bbb68"))
        #expect(
            try EventFixture.headers(of: event) == [
                "ce_specversion": "1.0", "ce_id": event.id.rawValue, "ce_source": "grantor",
                "ce_type": "com.grantor.purchase.granted.v1", "ce_subject": "2", "ce_time": "2026-11-21T04:59:13.250Z",
                "content-type": "application/json",
                "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            ])
    }
}
