import Contract
import Testing

@testable import AppStore

@Suite("verifyReceipt response")
struct VerifyReceiptResponseTests {
    private func response(_ json: String) -> VerifyReceiptResponse? { VerifyReceiptResponse(json: Array(json.utf8)) }

    private func purchases(_ json: String) throws -> [Purchase] {
        try #require(response(json)).records.compactMap { $0.purchase(in: .production) }
    }

    @Test(
        "needs nothing but a status, as a number or a text", arguments: ["21002", "\"21002\"", "21002.0", "2.1002e4"])
    func status(text: String) {
        #expect(response("{\"status\":\(text)}")?.status == 21002)
    }

    @Test(
        "is no answer without a whole object and a status",
        arguments: [
            "", " ", "null", "0", "[]", "[{\"status\":0}]", "\"status\"", "<html><body>It works!</body></html>", "{}",
            "{\"status\":null}", "{\"status\":true}", "{\"status\":[0]}", "{\"status\":\"ok\"}", "{\"status\":0.5}",
            "{\"status\":0", "{\"status\":0}}", "{'status':0}", "{\"Status\":0}", "{\"status\":\u{0}0}",
        ])
    func noAnswer(json: String) {
        #expect(response(json) == nil)
    }

    @Test("is no answer when nested too deep, not UTF-8 or too large")
    func extremes() {
        let deep = String(repeating: "[", count: 100_000)
        #expect(response("{\"status\":0,\"x\":\(deep)") == nil)
        #expect(
            VerifyReceiptResponse(json: Array("{\"status\":0,\"environment\":\"".utf8) + [0xff] + Array("\"}".utf8))
                == nil)
        let padding = String(repeating: " ", count: VerifyReceiptResponse.maxBytes)
        #expect(response("{\"status\":0}" + padding) == nil)
    }

    @Test(
        "takes the retryable flag in both spellings and every form",
        arguments: [
            ("\"is_retryable\":true", true), ("\"is-retryable\":true", true), ("\"is_retryable\":1", true),
            ("\"is-retryable\":\"true\"", true), ("\"is_retryable\":false", false), ("\"is-retryable\":0", false),
            ("\"is_retryable\":\"0\"", false), ("\"is_retryable\":\"maybe\"", nil), ("\"is_retryable\":null", nil),
            ("\"isRetryable\":true", nil),
        ] as [(String, Bool?)])
    func retryable(member: String, expected: Bool?) {
        #expect(response("{\"status\":21100,\(member)}")?.isRetryable == expected)
    }

    @Test("reads numbers where texts are usual, and a single object where a list is")
    func forms() throws {
        let record = """
            {"quantity":2,"product_id":"gems","transaction_id":1001,"original_transaction_id":1000.0,\
            "purchase_date_ms":1795237142000.9,"expires_date_ms":"1795237142001.5","is_upgraded":true,\
            "web_order_line_item_id":2000000044444444,"app_account_token":"7E3FB20B-4CDB-47CC-936D-99D65F608138","unknown":{"a":[1]}}
            """
        let purchase = try #require(try purchases("{\"status\":0,\"latest_receipt_info\":\(record)}").first)
        #expect(purchase.quantity == 2)
        #expect(purchase.transactionID == "1001")
        #expect(purchase.originalTransactionID == "1000")
        #expect(purchase.purchasedAt == Timestamp(milliseconds: 1_795_237_142_000))
        #expect(purchase.expiresAt == Timestamp(milliseconds: 1_795_237_142_001))
        #expect(purchase.webOrderLineItemID == "2000000044444444")
        #expect(purchase.isUpgraded)
        #expect(purchase.appAccountToken == "7e3fb20b-4cdb-47cc-936d-99d65f608138")
    }

    @Test("takes a line item of zeros for none, and passes over zeros in front of one")
    func lineItems() throws {
        for (text, id) in [("0", nil), ("0077", "77")] {
            let record = Answer.record("1", ["web_order_line_item_id": text])
            let read = try #require(VerifyReceiptResponse(json: Answer.authentic(inApp: [record]))).records
            #expect(read.map { $0.purchase(in: .production)?.webOrderLineItemID } == [id])
        }
    }

    @Test("reads receipts in the style of iOS 6: one purchase, milliseconds in the plain date, bid for the bundle")
    func iOS6() throws {
        let record = Answer.record(
            "1001", product: "vip", ["expires_date": "1795237142000", "bid": "com.example.game"])
        let answer = "{\"status\":21006,\"receipt\":\(record),\"latest_expired_receipt_info\":\(record)}"
        #expect(response(answer)?.bundleID == "com.example.game")
        let found = try purchases(answer)
        #expect(found.count == 1)
        #expect(found.first?.expiresAt == Timestamp(milliseconds: 1_795_237_142_000))
    }

    @Test("joins both lists by transaction; the latest wins, the older fills in, and a cancellation counts")
    func merging() throws {
        let older = Answer.record(
            "1", ["quantity": "2", "cancellation_date_ms": "1795237142000", "web_order_line_item_id": "7"])
        let latest = Answer.record("1", ["quantity": "3", "app_account_token": "7e3fb20b-4cdb-47cc-936d-99d65f608138"])
        let answer = Answer.authentic(inApp: [older, Answer.record("2")], latest: [latest, Answer.record("3")])
        let records = try #require(VerifyReceiptResponse(json: answer)).records
        let found = records.compactMap { $0.purchase(in: .sandbox) }
        #expect(found.map(\.transactionID) == ["1", "3", "2"])
        #expect(found[0].quantity == 3)
        #expect(found[0].webOrderLineItemID == "7")
        #expect(found[0].appAccountToken == "7e3fb20b-4cdb-47cc-936d-99d65f608138")
        #expect(found[0].revokedAt == Timestamp(milliseconds: 1_795_237_142_000))
        #expect(found.allSatisfy { $0.environment == .sandbox })
    }

    @Test("of two records of one transaction the cancelled one counts, wherever they stand")
    func cancelledOneCounts() throws {
        let plain = Answer.record("1")
        let cancelled = Answer.record("1", ["cancellation_date_ms": "1795237142000", "cancellation_reason": "0"])
        for (inApp, latest, isInDoubt) in [
            // A purchase that the receipt leaves out was cancelled since.
            ([plain], [cancelled], false), ([cancelled], [cancelled], false), ([cancelled], [plain], true),
            ([plain, cancelled], [], true), ([cancelled, plain], [], true), ([], [plain, cancelled], true),
            ([], [cancelled, plain], true), ([cancelled, plain], [cancelled], false), ([plain, plain], [plain], nil),
        ] as [([String], [String], Bool?)] {
            let answer = Answer.authentic(inApp: inApp, latest: latest)
            let records = try #require(VerifyReceiptResponse(json: answer)).records
            #expect(records.count == 1)
            let record = try #require(records.first)
            #expect((try #require(record.purchase(in: .production)).revokedAt != nil) == (isInDoubt != nil))
            #expect(record.isCancellationInDoubt == (isInDoubt ?? false))
        }
    }

    @Test(
        "makes no purchase of a record that lacks what a grant needs, or has it in a form it does not know",
        arguments: [
            ["transaction_id": nil], ["transaction_id": ""], ["transaction_id": "../../x"],
            ["transaction_id": "123456789012345678901"], ["original_transaction_id": nil], ["product_id": nil],
            ["purchase_date_ms": nil], ["purchase_date_ms": "1e400"], ["purchase_date_ms": "-1"],
            ["purchase_date_ms": "999999999999999999"], ["purchase_date_ms": "nan"], ["quantity": "two"],
            ["quantity": "1.5"], ["in_app_ownership_type": "RENTED"], ["is_upgraded": "perhaps"],
            ["cancellation_date": "2026-11-21 04:59:02 Etc/GMT"], ["cancellation_date_ms": "never"],
            ["cancellation_date_pst": "2026-11-20 20:59:02 America/Los_Angeles"], ["cancellation_reason": "0"],
            ["expires_date": "2026-11-21 04:59:02 Etc/GMT"], ["cancellation_date_ms": "0"], ["expires_date_ms": "0"],
            ["purchase_date_ms": "0"], ["cancellation_date_ms": "1795237142"],
            ["web_order_line_item_id": String(repeating: "7", count: 65)],
        ] as [[String: String?]])
    func incomplete(changes: [String: String?]) throws {
        var all: [String: String?] = [:]
        for (name, value) in changes { all.updateValue(value, forKey: name) }
        let records = try #require(VerifyReceiptResponse(json: Answer.authentic(inApp: [Answer.record("1", all)])))
            .records
        #expect(records.count == 1)
        #expect(records.first?.purchase(in: .production) == nil)
    }

    @Test("takes a cancellation that is too large a number for one that cannot be read, not for none")
    func hugeNumber() throws {
        let record =
            #"{"product_id":"gems","transaction_id":"1","original_transaction_id":"1","purchase_date_ms":"1795237142000""#
        #expect(try purchases(#"{"status":0,"receipt":{"in_app":[\#(record)}]}}"#).count == 1)
        #expect(try purchases(#"{"status":0,"receipt":{"in_app":[\#(record),"cancellation_date_ms":1e400}]}}"#).isEmpty)
    }

    @Test(
        "keeps a quantity that Apple cannot have sold, for the check to refuse",
        arguments: [
            ("0", 0), ("-5", -5), ("4294967297", 4_294_967_297), ("99999999999999999999", .max), ("-1e30", .min),
        ])
    func quantities(text: String, expected: Int) throws {
        let answer = Answer.authentic(inApp: [Answer.record("1", ["quantity": text])])
        let record = try #require(VerifyReceiptResponse(json: answer)?.records.first)
        #expect(record.purchase(in: .production)?.quantity == expected)
    }

    @Test("an empty cancellation is none, and elements that are no records count as nothing")
    func emptiness() throws {
        let answer = Answer.authentic(
            inApp: [
                Answer.record(
                    "1", ["cancellation_date": "", "cancellation_date_ms": "", "cancellation_reason": ""]),
                "null", "7", "[]", "{}",
            ])
        let records = try #require(VerifyReceiptResponse(json: answer)).records
        #expect(records.count == 1)
        #expect(records.first?.purchase(in: .production)?.revokedAt == nil)
    }

    @Test(
        "tells the offer of a purchase",
        arguments: [
            ("\"is_trial_period\":\"true\"", Offer(kind: .trial, discountType: .freeTrial)),
            (
                "\"is_trial_period\":\"true\",\"is_in_intro_offer_period\":\"false\"",
                Offer(kind: .trial, discountType: .freeTrial)
            ),
            (
                "\"is_in_intro_offer_period\":\"true\",\"is_trial_period\":\"false\"",
                Offer(kind: .introductory, discountType: nil)
            ),
            ("\"promotional_offer_id\":\"summer\"", Offer(kind: .promotional, discountType: nil)),
            (
                "\"offer_code_ref_name\":\"VIP\",\"is_trial_period\":\"true\"",
                Offer(kind: .offerCode, discountType: nil)
            ),
            ("\"is_trial_period\":\"perhaps\"", nil), ("\"is_trial_period\":\"false\"", nil),
        ] as [(String, Offer?)])
    func offers(member: String, offer: Offer?) throws {
        let record = """
            {"product_id":"vip","transaction_id":"1","original_transaction_id":"1","purchase_date_ms":"1795237142000",\(member)}
            """
        let purchases = try purchases("{\"status\":0,\"latest_receipt_info\":[\(record)]}")
        #expect(purchases.map(\.offer) == [offer])
    }
}
