import Contract
import Testing

@testable import AppStore

@Suite("What a signed transaction says")
struct SignedTransactionTests {
    private func read(_ changes: [String: String?] = [:]) throws -> SignedTransaction {
        var payload = SignedToken.consumable
        for (name, json) in changes { payload.set(name, json) }
        return try SignedTransaction(payload: Array(SignedToken.object(payload).utf8))
    }

    @Test("a purchase with all that Apple signs")
    func whole() throws {
        let transaction = try read([
            "type": "\"Auto-Renewable Subscription\"", "expiresDate": SignedToken.moment(86_400),
            "webOrderLineItemId": "\"2000000044444444\"", "isUpgraded": "true",
            "inAppOwnershipType": "\"FAMILY_SHARED\"",
            "revocationDate": SignedToken.moment(-1), "originalTransactionId": "\"1999999999999999\"",
            "appAccountToken": "\"7E3FB204-2BB7-4D2D-9B64-0C5B6B8BB4A1\"",
        ])
        #expect(transaction.signedAt == Fixture.now)
        #expect(transaction.bundleID == "com.example.game")
        #expect(transaction.transactionID == "2000000000000001")
        #expect(transaction.environment == "Production")
        let expected = Purchase(
            transactionID: "2000000000000001", originalTransactionID: "1999999999999999",
            webOrderLineItemID: "2000000044444444", productID: "gems", quantity: 1, environment: .production,
            purchasedAt: Fixture.now.advanced(by: .seconds(-5)), expiresAt: Fixture.now.advanced(by: Fixture.day),
            revokedAt: Fixture.now.advanced(by: .seconds(-1)), isUpgraded: true, ownership: .familyShared,
            appAccountToken: "7e3fb204-2bb7-4d2d-9b64-0c5b6b8bb4a1", type: .autoRenewable,
            payment: Payment(price: 990, currency: "USD", storefront: "USA"), offer: nil)
        #expect(transaction.purchase == .success(expected))
    }

    @Test("a line item of zeros is none, and zeros in front make no other one")
    func lineItems() throws {
        for (text, id) in [("0", nil), ("0077", "77")] {
            let transaction = try read(["webOrderLineItemId": "\"\(text)\""])
            #expect(try transaction.purchase.get().webOrderLineItemID == id)
        }
    }

    @Test(
        "types by the names that Apple gives them",
        arguments: [
            ("Consumable", ProductType.consumable), ("Non-Consumable", .nonConsumable),
            ("Non-Renewing Subscription", .nonRenewing), ("Auto-Renewable Subscription", .autoRenewable),
        ])
    func types(name: String, type: ProductType) throws {
        #expect(try read(["type": "\"\(name)\""]).purchase.value?.type == type)
        #expect(try read(["type": nil]).purchase.value.map(\.type) == .some(nil))
    }

    @Test(
        "a member that is missing keeps it from being a purchase",
        arguments: ["transactionId", "originalTransactionId", "productId", "environment", "purchaseDate"])
    func missing(member: String) throws {
        for json in [nil, "null", "\"\""] {
            #expect(try read([member: json]).purchase == .failure(.missing(member)))
        }
    }

    @Test(
        "a member that decides and cannot be read must not count as absent",
        arguments: [
            ("transactionId", "\"../../x\""), ("transactionId", "\"123456789012345678901\""), ("transactionId", "-1"),
            ("transactionId", "[]"), ("originalTransactionId", "\"abc\""), ("productId", "{}"),
            ("purchaseDate", "\"soon\""), ("purchaseDate", "0"), ("expiresDate", "0"), ("revocationDate", "0"),
            ("revocationDate", "\"0\""), ("revocationDate", "1795237142"),
            ("expiresDate", "\"soon\""), ("expiresDate", "[]"), ("expiresDate", "-1"), ("expiresDate", "1e300"),
            ("revocationDate", "\"soon\""), ("revocationDate", "{}"), ("revocationDate", "true"),
            ("type", "\"Rental\""),
            ("type", "1"), ("inAppOwnershipType", "\"RENTED\""), ("isUpgraded", "\"perhaps\""), ("quantity", "1.5"),
            ("quantity", "\"many\""), ("quantity", "[1]"), ("environment", "\"Moon\""),
            ("webOrderLineItemId", "\"a/b\""),
        ])
    func unknownForm(member: String, json: String) throws {
        #expect(try read([member: json]).purchase == .failure(.unknownForm(member)))
    }

    @Test(
        "what was taken back has a date: one that has only more about it is held",
        arguments: [
            ("revocationReason", "0"), ("revocationType", "\"REFUND_FULL\""), ("revocationPercentage", "100000"),
        ])
    func revocationWithoutDate(member: String, json: String) throws {
        for date in [nil, "null", "\"\""] {
            let read = try read([member: json, "revocationDate": date])
            #expect(read.purchase == .failure(.missing("revocationDate")))
        }
        #expect(throws: Never.self) { try read([member: "null"]).purchase.get() }
        let dated = try read([member: json, "revocationDate": SignedToken.moment(-1)])
        #expect(try dated.purchase.get().revokedAt == Fixture.now.advanced(by: .seconds(-1)))
    }

    @Test(
        "what was taken back in part is told with its part, and what was taken back as a whole is revoked",
        arguments: [
            (nil, nil, nil), ("REFUND_FULL", nil, nil), ("REFUND_FULL", "100000", nil), ("FAMILY_REVOKE", nil, nil),
            (nil, "100000", nil), ("REFUND_PRORATED", "100000", nil), ("LATER", "100000", nil),
            ("REFUND_PRORATED", nil, .partialRefund(thousandths: nil)),
            ("REFUND_PRORATED", "67932", .partialRefund(thousandths: 67932)),
            ("REFUND_PRORATED", "\"50000\"", .partialRefund(thousandths: 50000)),
            (nil, "40000", .partialRefund(thousandths: 40000)), (nil, "0", .partialRefund(thousandths: 0)),
            ("REFUND_PRORATED", "\"half\"", .unknownForm("revocationPercentage")),
            ("LATER", nil, .unknownForm("revocationType")),
        ] as [(String?, String?, UnreadablePurchase?)])
    func revocations(type: String?, percentage: String?, error: UnreadablePurchase?) throws {
        let purchase = try read([
            "revocationDate": SignedToken.moment(-1), "revocationType": type.map { "\"\($0)\"" },
            "revocationPercentage": percentage,
        ]).purchase
        #expect(purchase.error == error)
        #expect(purchase.value.map { $0.revokedAt != nil } ?? true)
    }

    @Test(
        "a part is told in percent",
        arguments: [
            (40000, "40 %"), (67932, "67.932 %"), (15, "0.015 %"), (500, "0.5 %"), (0, "0 %"), (99990, "99.99 %"),
        ])
    func percentages(thousandths: Int, text: String) {
        #expect(
            UnreadablePurchase.partialRefund(thousandths: thousandths).detail
                == "Apple refunded \(text) of the purchase."
        )
    }

    @Test(
        "a purchase of the Advanced Commerce API is none of the catalogue's, unless the whole of it was taken back",
        arguments: [
            "{}",
            #"{"items":[{"SKU":"a","price":990},{"SKU":"b","revocationDate":1795237100000,"refunds":[]}]}"#, "[]",
        ])
    func advancedCommerce(info: String) throws {
        for changes in [[:], ["revocationReason": "0"], ["productId": nil], ["type": "\"Rental\""]]
            as [[String: String?]]
        {
            let transaction = try read(changes.merging(["advancedCommerceInfo": info]) { $1 })
            #expect(transaction.purchase == .failure(.advancedCommerce))
        }
        let date = SignedToken.moment(-1)
        let part = try read([
            "advancedCommerceInfo": info, "revocationDate": date, "revocationPercentage": "40000",
        ])
        #expect(part.purchase == .failure(.advancedCommerce))
        let whole = try read(["advancedCommerceInfo": info, "revocationDate": date])
        #expect(whole.purchase.value?.revokedAt != nil)
        #expect(try read(["advancedCommerceInfo": "null"]).purchase.value != nil)
    }

    @Test("names its product whether or not the rest can be read")
    func product() throws {
        #expect(try read().productID == "gems")
        #expect(try read(["type": "\"Rental\""]).productID == "gems")
        #expect(try read(["productId": nil]).productID == nil)
    }

    @Test("ids may be numbers, dates may be texts or fractions, flags may be texts")
    func lenient() throws {
        let usual = try read(["isUpgraded": "true"])
        let unusual = try read([
            "isUpgraded": "\"true\"", "transactionId": "2000000000000001", "originalTransactionId": "2000000000000001",
            "purchaseDate": "\"\(SignedToken.moment(-5))\"", "signedDate": SignedToken.moment(0) + ".0497",
            "quantity": "1e0",
            "appTransactionId": "704289572311429999", "somethingNew": "{\"a\":[1,2,{}]}",
        ])
        #expect(usual == unusual)
    }

    @Test(
        "quantities, up to those that only a policy can refuse",
        arguments: [
            (nil, 1), ("1", 1), ("10", 10), ("1.0", 1), ("\"7\"", 7), ("0", 0), ("-5", -5),
            ("4294967297", 4_294_967_297),
            ("1e30", Int.max), ("-1e30", Int.min), ("99999999999999999999", Int.max),
        ] as [(String?, Int)])
    func quantities(json: String?, quantity: Int) throws {
        #expect(try read(["quantity": json]).purchase.value?.quantity == quantity)
    }

    @Test(
        "a price is never a reason to lose a purchase",
        arguments: [
            ("10990", 10990), ("10990.0", 10990), ("10990.5", 10990), ("\"10990\"", 10990), ("0", 0), ("0.9", 0),
            ("9223372036854775807", Int64.max), ("-1", nil), ("-0.5", nil), ("1e30", nil), ("\"free\"", nil),
            ("[]", nil),
        ] as [(String, Int64?)])
    func prices(json: String, price: Int64?) throws {
        let payment = try read(["price": json]).purchase.value?.payment
        #expect(payment == Payment(price: price, currency: "USD", storefront: "USA"))
    }

    @Test(
        "the offer of a purchase, by the numbers that Apple gives them",
        arguments: [
            ("1", "\"FREE_TRIAL\"", Offer(kind: .trial, discountType: .freeTrial)),
            ("1", "\"PAY_AS_YOU_GO\"", Offer(kind: .introductory, discountType: .payAsYouGo)),
            ("1", "\"PAY_UP_FRONT\"", Offer(kind: .introductory, discountType: .payUpFront)),
            ("1", nil, Offer(kind: .introductory, discountType: nil)),
            ("1", "\"LATER\"", Offer(kind: .introductory, discountType: nil)),
            ("2", "\"PAY_UP_FRONT\"", Offer(kind: .promotional, discountType: .payUpFront)),
            ("3", "\"ONE_TIME\"", Offer(kind: .offerCode, discountType: .oneTime)),
            ("4", nil, Offer(kind: .winBack, discountType: nil)),
            ("\"2\"", nil, Offer(kind: .promotional, discountType: nil)), ("5", "\"FREE_TRIAL\"", nil),
            ("\"none\"", nil, nil),
            ("[]", nil, nil), (nil, "\"FREE_TRIAL\"", nil), (nil, nil, nil),
        ] as [(String?, String?, Offer?)])
    func offers(type: String?, discount: String?, offer: Offer?) throws {
        let purchase = try read(["offerType": type, "offerDiscountType": discount]).purchase.get()
        #expect(purchase.offer == offer)
    }

    @Test("a purchase of several seats has their number, and no price, which would be one seat's")
    func seats() throws {
        let transaction = try read([
            "type": "\"Auto-Renewable Subscription\"", "expiresDate": SignedToken.moment(86_400), "quantity": "25",
            "multiSeatInfo": "{\"seatQuantity\":25}",
        ])
        let purchase = try transaction.purchase.get()
        #expect(purchase.quantity == 25)
        #expect(purchase.payment == Payment(price: nil, currency: "USD", storefront: "USA"))
        #expect(try read(["multiSeatInfo": "null"]).purchase.get().payment?.price == 990)
    }

    @Test("payment that is absent or odd is left out")
    func payment() throws {
        let none: [String: String?] = ["price": nil, "currency": "\"dollars\"", "storefront": "143441"]
        #expect(try read(none).purchase.value.map(\.payment) == .some(nil))
    }

    @Test(
        "an account token that is none binds nobody",
        arguments: [
            "\"\"", "\"player-1\"", "null", "5", "\"7E3FB204\"", "\"00000000-0000-0000-0000-000000000000\"",
        ])
    func tokens(json: String) throws {
        #expect(try read(["appAccountToken": json]).purchase.value.map(\.appAccountToken) == .some(nil))
    }

    @Test("other things that Apple signs with the same key are no transactions")
    func otherKinds() {
        let renewal = #"{"originalTransactionId":"1","productId":"vip","autoRenewStatus":1,"signedDate":1795237200000}"#
        let notification = #"{"notificationType":"TEST","notificationUUID":"x","signedDate":1795237200000}"#
        let app = #"{"receiptType":"Production","bundleId":"com.example.game","receiptCreationDate":1795237200000}"#
        for json in [renewal, notification, app, "{}"] {
            #expect(throws: SignedTransactionError.notATransaction) { try SignedTransaction(payload: Array(json.utf8)) }
        }
    }

    @Test("a moment of signing is required", arguments: [nil, "null", "\"\"", "\"soon\"", "-1", "[]"] as [String?])
    func signingDate(json: String?) {
        #expect(throws: SignedTransactionError.noSigningDate) { try read(["signedDate": json]) }
    }

    @Test("payloads that cannot be read, or that two readers would read differently")
    func unreadable() {
        let deep =
            "{\"transactionId\":\"1\",\"a\":" + String(repeating: "[", count: 400) + String(repeating: "]", count: 400)
        for json in [
            "", "null", "[]", "{", "{} {}", "{\"a\":}", deep + "}", "{\"transactionId\":\"1\",\"transactionId\":\"1\"}",
            "{\"transactionId\":\"1\",\"a\":{\"b\":1,\"b\":2}}", "{\"a\":\"\\ud800\"}",
        ] {
            #expect(throws: SignedTransactionError.payloadUnreadable) {
                try SignedTransaction(payload: Array(json.utf8))
            }
        }
        #expect(throws: SignedTransactionError.payloadUnreadable) {
            try SignedTransaction(payload: [0x7B, 0xFF, 0x7D])
        }
    }
}
