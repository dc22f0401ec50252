import Contract
import Foundation
import Testing

@testable import AppStoreSimulator

struct TransactionSpecificationTests {
    @Test("A consumable is told with Apple's names and forms")
    func consumable() throws {
        var purchase = SimulatedPurchase.gems("2000000123")
        purchase.quantity = 3
        purchase.appAccountToken = "7f1f3f2e-0b0c-4f0e-9a55-2d1c7d7a9b11"
        let payload = try read(.sample(purchase, .sandbox, customer: "704"))
        let expected: [String: any Sendable] = [
            "transactionId": "2000000123", "originalTransactionId": "2000000123", "bundleId": "com.example.game",
            "productId": "com.example.game.gems100", "purchaseDate": now.milliseconds - day,
            "originalPurchaseDate": now.milliseconds - day, "quantity": 3, "type": "Consumable",
            "appAccountToken": "7f1f3f2e-0b0c-4f0e-9a55-2d1c7d7a9b11", "inAppOwnershipType": "PURCHASED",
            "signedDate": now.milliseconds, "environment": "Sandbox", "transactionReason": "PURCHASE",
            "storefront": "USA", "storefrontId": "143441", "price": 990, "currency": "USD", "appTransactionId": "704",
        ]
        #expect(NSDictionary(dictionary: payload) == NSDictionary(dictionary: expected))
    }

    @Test("A subscription has period, group and line item")
    func subscription() throws {
        var purchase = SimulatedPurchase.month("2", original: "1", endsInDays: 9)
        purchase.isUpgraded = true
        purchase.ownership = .familyShared
        let payload = try read(.sample(purchase))
        #expect(payload["type"] as? String == "Auto-Renewable Subscription")
        #expect(payload["originalTransactionId"] as? String == "1")
        #expect(payload["webOrderLineItemId"] as? String == "7000000000001")
        #expect(payload["subscriptionGroupIdentifier"] as? String == SimulatedPurchase.subscriptionGroup)
        #expect(payload["expiresDate"] as? Int64 == now.milliseconds + 9 * day)
        #expect(payload["transactionReason"] as? String == "RENEWAL")
        #expect(payload["isUpgraded"] as? Bool == true)
        #expect(payload["inAppOwnershipType"] as? String == "FAMILY_SHARED")
        #expect(payload["appTransactionId"] as? String == "7041")
    }

    @Test(
        "Kinds have Apple's names",
        arguments: zip(
            ProductType.allCases,
            ["Consumable", "Non-Consumable", "Non-Renewing Subscription", "Auto-Renewable Subscription"]))
    func kinds(kind: ProductType, name: String) throws {
        var purchase = SimulatedPurchase.gems()
        purchase.kind = kind
        #expect(try read(.sample(purchase))["type"] as? String == name)
    }

    @Test("A refund is told with its reason")
    func refund() throws {
        var purchase = SimulatedPurchase.gems()
        purchase.cancelledAt = now
        purchase.cancellationReason = "1"
        let payload = try read(.sample(purchase))
        #expect(payload["revocationDate"] as? Int64 == now.milliseconds)
        #expect(payload["revocationReason"] as? Int == 1)
        #expect(payload["revocationType"] as? String == "REFUND_FULL")
    }

    @Test("Every member can be forged")
    func forged() throws {
        let payload = try read(
            .sample(changes: [
                .set(name: "price", json: "10990.5"), .set(name: "type", json: "\"Gift\""),
                .set(name: "environment", json: "\"Xcode\""), .remove(name: "bundleId"),
                .set(name: "quantity", json: "-5"),
            ]))
        #expect(payload["price"] as? Double == 10990.5)
        #expect(payload["type"] as? String == "Gift")
        #expect(payload["environment"] as? String == "Xcode")
        #expect(payload["bundleId"] == nil)
        #expect(payload["quantity"] as? Int == -5)
    }

    @Test("A specification survives JSON")
    func json() throws {
        var specification = TransactionSpecification.sample(
            .month("2", original: "1", endsInDays: 4), .sandbox, customer: "9", changes: [.remove(name: "price")])
        specification.price = nil
        specification.storefront = nil
        let json = try JSONEncoder().encode(specification)
        #expect(try JSONDecoder().decode(TransactionSpecification.self, from: json) == specification)
    }

    private func read(_ specification: TransactionSpecification) throws -> [String: Any] {
        try members(Array(specification.payload(signedAt: now).text.utf8))
    }
}
