import Contract
import Testing

@Suite("Granted event")
struct GrantedEventTests {
    private func grant(
        environment: Environment = .sandbox, transactionID: TransactionID = "2",
        originalTransactionID: TransactionID = "1", lineItem: String? = "7", type: ProductType = .autoRenewable,
        items: [Item] = [Item(item: "vip", quantity: 1)], quantity: Int = 1, expiresAt: Timestamp? = later,
        ownership: Ownership = .purchased, payment: Payment? = nil, offer: Offer? = nil,
        verifiedBy: String = "verifyReceipt", claimant: Claimant = Fixture.claimant, origin: Origin = Fixture.origin,
        receivedAt: Timestamp = Fixture.moment, grantedAt: Timestamp = Fixture.moment, attempts: Int = 1
    ) -> Grant {
        Grant(
            key: GrantKey(environment: environment, name: "w:7"), transactionID: transactionID,
            originalTransactionID: originalTransactionID, webOrderLineItemID: lineItem,
            product: Product(id: "vip", type: type, items: items), quantity: quantity, purchasedAt: Fixture.moment,
            expiresAt: expiresAt, ownership: ownership, payment: payment, offer: offer, verifiedBy: verifiedBy,
            claimant: claimant, origin: origin, receivedAt: receivedAt, grantedAt: grantedAt, attempts: attempts,
            format: .v1, passedOver: nil)
    }

    private static let later = Fixture.moment.advanced(by: .seconds(1))

    @Test("has the same bytes on every machine and in every version")
    func bytes() {
        let expected = """
            {"bundleId":"com.example.game","environment":"sandbox","eventId":"4350f9a4-3694-5e30-90af-1035f727ab70",\
            "expiresAt":"2026-11-21T04:59:14.250Z","grantId":"bd2d1d89-adc6-5c94-b987-32b53695151b",\
            "grantedAt":"2026-11-21T04:59:13.250Z","items":[{"item":"vip","quantity":1}],"orderId":"order-1",\
            "originalTransactionId":"1","ownership":"purchased","productId":"vip","productType":"autoRenewable",\
            "purchasedAt":"2026-11-21T04:59:13.250Z","quantity":1,"submissionId":"order-1:1","transactionId":"2",\
            "userId":"player-1","verifiedBy":"verifyReceipt","webOrderLineItemId":"7"}
            """
        #expect(Fixture.text(GrantedEvent.event(of: grant())) == expected)
        #expect(GrantedEvent.event(of: grant()) == GrantedEvent.event(of: grant()))
    }

    @Test("is the event that the first build published for the same purchase, byte for byte")
    func firstBuild() {
        let product = Product(
            id: "com.example.game.gems100", type: .consumable, items: [Item(item: "gems", quantity: 100)])
        let grant = Grant(
            key: GrantKey(environment: .production, name: "t:2795500070140189"), transactionID: "2795500070140189",
            originalTransactionID: "2795500070140189", webOrderLineItemID: nil, product: product, quantity: 7,
            purchasedAt: Timestamp(milliseconds: 1_795_499_770_133), expiresAt: nil, ownership: .purchased,
            payment: Payment(price: 990, currency: "USD", storefront: "USA"), offer: nil,
            verifiedBy: "signedTransaction",
            claimant: Claimant(
                submissionID: "demo-mwuadss5-987", userID: "user-mwuadss5-987", bundleID: "com.example.game",
                orderID: "order-mwuadss5-987", traceparent: nil),
            origin: Fixture.origin, receivedAt: Fixture.moment, grantedAt: Timestamp(milliseconds: 1_795_500_070_364),
            attempts: 1, format: .v1, passedOver: nil)
        let expected = """
            {"bundleId":"com.example.game","currency":"USD","environment":"production",\
            "eventId":"77d84512-1552-5fef-892c-582fed203924","grantId":"c9d6cee2-ac2f-5857-98d9-2e3b7c511ac8",\
            "grantedAt":"2026-11-24T06:01:10.364Z","items":[{"item":"gems","quantity":700}],\
            "orderId":"order-mwuadss5-987","originalTransactionId":"2795500070140189","ownership":"purchased",\
            "price":990,"productId":"com.example.game.gems100","productType":"consumable",\
            "purchasedAt":"2026-11-24T05:56:10.133Z","quantity":7,"storefront":"USA",\
            "submissionId":"demo-mwuadss5-987","transactionId":"2795500070140189","userId":"user-mwuadss5-987",\
            "verifiedBy":"signedTransaction"}
            """
        #expect(Fixture.text(GrantedEvent.event(of: grant)) == expected)
    }

    @Test("leaves out what is not known, and nothing else")
    func optionalMembers() throws {
        let bare = grant(
            lineItem: nil, expiresAt: nil,
            claimant: Claimant(submissionID: "s", userID: "u", bundleID: "b", orderID: nil, traceparent: nil))
        let full = grant(
            payment: Payment(price: 1, currency: "EUR", storefront: "DEU"),
            offer: Offer(kind: .trial, discountType: .freeTrial))
        let names = Set(try Fixture.members(of: GrantedEvent.event(of: bare)).keys)
        let all = Set(try Fixture.members(of: GrantedEvent.event(of: full)).keys)
        #expect(
            all.subtracting(names)
                == ["orderId", "webOrderLineItemId", "expiresAt", "price", "currency", "storefront", "offer"])
        #expect(names.isSubset(of: all))
        #expect(try Fixture.headers(of: GrantedEvent.event(of: bare))["traceparent"] == nil)
    }

    @Test("tells an offer between what is given and the order")
    func offer() {
        let trial = Fixture.text(GrantedEvent.event(of: grant(offer: Offer(kind: .trial, discountType: .freeTrial))))
        #expect(
            trial.contains(#""quantity":1}],"offer":{"discountType":"freeTrial","kind":"trial"},"orderId":"order-1""#))
        #expect(
            Fixture.text(GrantedEvent.event(of: grant(offer: Offer(kind: .winBack, discountType: nil))))
                .contains(#""offer":{"kind":"winBack"}"#))
    }

    @Test("tells no price without its currency")
    func price() {
        let payment = Payment(price: 990, currency: nil, storefront: "USA")
        let text = Fixture.text(GrantedEvent.event(of: grant(payment: payment)))
        #expect(!text.contains("price") && text.contains(#""storefront":"USA""#))
    }

    @Test("has CloudEvents headers, the transaction as subject and the user as key")
    func headers() throws {
        let event = GrantedEvent.event(of: grant())
        #expect(event.topic == .granted)
        #expect(event.key == Array("player-1".utf8))
        #expect(
            try Fixture.headers(of: event) == [
                "ce_specversion": "1.0", "ce_id": event.id.rawValue, "ce_source": "grantor",
                "ce_type": "com.grantor.purchase.granted.v1", "ce_subject": "2", "ce_time": "2026-11-21T04:59:13.250Z",
                "content-type": "application/json",
                "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            ])
    }

    @Test("is the same bytes for a repeat, which one header behind the others marks")
    func repeated() {
        let first = GrantedEvent.event(of: grant())
        let copy = GrantedEvent.event(of: grant(), repeatOf: "restore-1")
        #expect(copy.headers == first.headers + [RecordHeader("grantor-repeat-of", "restore-1")])
        #expect(
            copy.id == first.id && copy.topic == first.topic && copy.key == first.key && copy.value == first.value)
    }

    @Test("tells what the user gets in all, from what one unit gives")
    func items() {
        let gems = [Item(item: "gems", quantity: 100), Item(item: "xp", quantity: 1)]
        #expect(
            Fixture.text(GrantedEvent.event(of: grant(items: gems, quantity: 3)))
                .contains(#""items":[{"item":"gems","quantity":300},{"item":"xp","quantity":3}]"#))
    }
}
