import Contract
import Foundation
import Testing

@testable import AppStoreSimulator

struct VerifyReceiptAnswerTests {
    @Test("The receipt has every member of Apple's")
    func everyMember() throws {
        let receipt = try #require(try answer(.sample())["receipt"] as? [String: Any])
        #expect(receipt["receipt_type"] as? String == "Production")
        for key in ["adam_id", "app_item_id", "download_id", "version_external_identifier"] {
            #expect(try #require(receipt[key] as? Int) > 0)
        }
        #expect(receipt["bundle_id"] as? String == "com.example.game")
        #expect(receipt["application_version"] as? String == "1")
        #expect(receipt["original_application_version"] as? String == "1.0")
        #expect(receipt["receipt_creation_date"] as? String == "2026-11-21 04:59:13 Etc/GMT")
        #expect(receipt["receipt_creation_date_ms"] as? String == "1795237153000")
        #expect(receipt["receipt_creation_date_pst"] as? String == "2026-11-20 20:59:13 America/Los_Angeles")
        #expect(receipt["request_date_ms"] as? String == "1795237153000")
        #expect(receipt["original_purchase_date"] as? String == "2013-08-01 07:00:00 Etc/GMT")
        #expect(receipt.count == 18)
    }

    @Test("The sandbox has no app record")
    func sandbox() throws {
        let answer = try answer(.sample([.gems()], .sandbox), in: .sandbox)
        let receipt = try #require(answer["receipt"] as? [String: Any])
        #expect(answer["environment"] as? String == "Sandbox")
        #expect(receipt["receipt_type"] as? String == "ProductionSandbox")
        #expect(receipt["adam_id"] as? Int == 0)
    }

    @Test("A consumable stands in the receipt only")
    func consumable() throws {
        let answer = try answer(.sample())
        #expect(answer["status"] as? Int == 0)
        #expect(answer["environment"] as? String == "Production")
        #expect(Set(answer.keys) == ["status", "environment", "receipt"])
        #expect(
            try inApp(answer) == [
                [
                    "quantity": "1", "product_id": "com.example.game.gems100", "transaction_id": "1000000000000001",
                    "original_transaction_id": "1000000000000001", "purchase_date": "2026-11-20 04:59:13 Etc/GMT",
                    "purchase_date_ms": "1795150753000",
                    "purchase_date_pst": "2026-11-19 20:59:13 America/Los_Angeles",
                    "original_purchase_date": "2026-11-20 04:59:13 Etc/GMT",
                    "original_purchase_date_ms": "1795150753000",
                    "original_purchase_date_pst": "2026-11-19 20:59:13 America/Los_Angeles",
                    "is_trial_period": "false", "in_app_ownership_type": "PURCHASED",
                ]
            ])
    }

    @Test("A subscription stands in both lists with its renewal")
    func subscription() throws {
        let answer = try answer(.sample([.month("5", original: "1", endsInDays: 3)]))
        #expect(answer["latest_receipt"] as? String == "base64")
        let latest = try #require(answer["latest_receipt_info"] as? [[String: String]])
        #expect(try inApp(answer).map { $0["transaction_id"] } == ["5"])
        #expect(latest.map { $0["transaction_id"] } == ["5"])
        #expect(latest[0]["expires_date_ms"] == String(now.milliseconds + 3 * day))
        #expect(latest[0]["expires_date"] != nil)
        #expect(latest[0]["expires_date_pst"] != nil)
        #expect(latest[0]["web_order_line_item_id"] == "7000000000001")
        #expect(latest[0]["is_in_intro_offer_period"] == "false")
        #expect(latest[0]["subscription_group_identifier"] == "20000001")
        #expect(
            answer["pending_renewal_info"] as? [[String: String]] == [
                [
                    "product_id": "com.example.game.vip", "auto_renew_product_id": "com.example.game.vip",
                    "original_transaction_id": "1", "auto_renew_status": "1",
                ]
            ])
    }

    @Test("A subscription that ran out does not renew")
    func ended() throws {
        let answer = try answer(.sample([.month("5", original: "1", endsInDays: -3)]))
        let renewal = try #require(answer["pending_renewal_info"] as? [[String: String]])[0]
        #expect(renewal["auto_renew_status"] == "0")
        #expect(renewal["expiration_intent"] == "1")
        #expect(renewal["is_in_billing_retry_period"] == "0")
    }

    @Test("A refund has its date and reason")
    func refund() throws {
        var purchase = SimulatedPurchase.gems()
        purchase.cancelledAt = now
        purchase.cancellationReason = "1"
        let shown = try inApp(try answer(.sample([purchase])))[0]
        #expect(shown["cancellation_date"] == "2026-11-21 04:59:13 Etc/GMT")
        #expect(shown["cancellation_date_ms"] == "1795237153000")
        #expect(shown["cancellation_date_pst"] == "2026-11-20 20:59:13 America/Los_Angeles")
        #expect(shown["cancellation_reason"] == "1")
    }

    @Test("The latest list has what receipts do not say")
    func latestList() throws {
        var purchase = SimulatedPurchase.gems()
        purchase.placement = .both
        purchase.appAccountToken = "7e3fb204-2d6b-4a0b-9d53-0a1d1c1b8a11"
        purchase.ownership = .familyShared
        purchase.isUpgraded = true
        purchase.quantity = 3
        let answer = try answer(.sample([purchase]))
        let latest = try #require(answer["latest_receipt_info"] as? [[String: String]])[0]
        #expect(latest["app_account_token"] == "7e3fb204-2d6b-4a0b-9d53-0a1d1c1b8a11")
        #expect(latest["in_app_ownership_type"] == "FAMILY_SHARED")
        #expect(latest["is_upgraded"] == "true")
        #expect(latest["quantity"] == "3")
        #expect(try inApp(answer)[0]["app_account_token"] == nil)
        #expect(answer["pending_renewal_info"] == nil)
    }

    @Test("Old periods are left out on request")
    func oldPeriods() throws {
        let months = [3, -27, -57].map {
            SimulatedPurchase.month(TransactionID("m\($0)"), original: "1", endsInDays: $0)
        }
        func shown(_ excludes: Bool) throws -> [String?] {
            let answer = try answer(.sample(months), excludesOldTransactions: excludes)
            return try #require(answer["latest_receipt_info"] as? [[String: String]]).map { $0["transaction_id"] }
        }
        #expect(try shown(false) == ["m3", "m-27", "m-57"])
        #expect(try shown(true) == ["m3"])
    }

    @Test("A refusal carries its status alone")
    func refusal() throws {
        let answer = VerifyReceiptAnswer(
            .init(status: 21007, receipt: .sample()), environment: .production, now: now, withoutPurchases: false)
        #expect(try members(answer.bytes).keys.sorted() == ["status"])
    }

    @Test("Purchases can be left out")
    func noPurchases() throws {
        let answer = try answer(.sample([.month("5", original: "1", endsInDays: 3)]), withoutPurchases: true)
        #expect(answer["status"] as? Int == 0)
        #expect(try inApp(answer).isEmpty)
        #expect(answer["latest_receipt_info"] == nil)
    }

    private func answer(
        _ receipt: ReceiptSpecification, in environment: Environment = .production,
        excludesOldTransactions: Bool = false, withoutPurchases: Bool = false
    ) throws -> [String: Any] {
        let result = ReceiptValidator.Result(
            status: 0, receipt: receipt, base64: "base64", excludesOldTransactions: excludesOldTransactions)
        let answer = VerifyReceiptAnswer(
            result, environment: environment, now: now, withoutPurchases: withoutPurchases)
        return try members(answer.bytes)
    }

    private func inApp(_ answer: [String: Any]) throws -> [[String: String]] {
        try #require((answer["receipt"] as? [String: Any])?["in_app"] as? [[String: String]])
    }
}
