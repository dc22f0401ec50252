import Contract
import Testing

@testable import AppStore

extension LocalCheckerTests {
    @Test("takes a subscription's original id for the period that runs, if the receipt has it")
    func subscription() throws {
        func period(_ id: String, from start: String, to end: String) -> [ReceiptBuilder.Attribute] {
            entry(
                id, product: "vip",
                changing: [
                    1704: ReceiptBuilder.ia5(start), 1705: ReceiptBuilder.utf8("20"), 1708: ReceiptBuilder.ia5(end),
                    1711: ReceiptBuilder.integer(id == "20" ? 70 : 71),
                ])
        }
        func attested(_ id: String, until end: Int64) -> [String: String?] {
            [
                "transactionId": "\"\(id)\"", "originalTransactionId": "\"20\"", "productId": "\"vip\"",
                "type": "\"Auto-Renewable Subscription\"", "expiresDate": SignedToken.moment(end),
                "purchaseDate": SignedToken.moment(end - 100), "webOrderLineItemId": "\"\(id)0\"",
            ]
        }
        let first = period("20", from: "2026-09-21T05:00:00Z", to: "2026-10-21T05:00:00Z")
        let renewed = period("21", from: "2026-11-01T05:00:00Z", to: "2026-12-01T05:00:00Z")
        let found = [try ServerAPIScript.found(attested("21", until: 50))]
        func ask(_ purchases: [[ReceiptBuilder.Attribute]], order: OrderID? = nil) throws -> Checked {
            try check(
                receipt(of: purchases), receipts: .serverAPI, hasKey: true, transactionID: "20", orderID: order,
                replies: found)
        }
        for purchases in [[first, renewed], [renewed]] {
            let checked = try ask(purchases)
            #expect(checked.call == "production /inApps/v1/transactions/21")
            #expect(checked.lookUp == "21", "the first period's grant is no answer")
            #expect(checked.verdict?.granted == ["21"])
        }
        #expect(try ask([renewed], order: "order-1").lookUp == "21")
        // Its own grant answers an order that the first period paid.
        #expect(try ask([first], order: "order-1").lookUp == "20")
        #expect(try ask([first, renewed], order: "order-1").lookUp == "20")
        let running = period("20", from: "2026-11-01T05:00:00Z", to: "2026-12-01T05:00:00Z")
        let own = try check(receipt(running), receipts: .serverAPI, hasKey: true, transactionID: "20")
        #expect(own.call == "production /inApps/v1/transactions/20" && own.lookUp == "20")
        #expect(
            try check(receipt(first, renewed), receipts: .local, transactionID: "20", orderID: nil).verdict?.granted
                == ["21"])
        // The receipt may be older than the latest renewal.
        let pages = [try ServerAPIScript.page([attested("21", until: 50), attested("20", until: -40)])]
        let over = period("19", from: "2026-10-21T05:00:00Z", to: "2026-11-01T05:00:00Z")
        for (method, purchases) in [ReceiptMethod.serverAPI, .local].flatMap({ method in
            [[first], [over], [over, first]].map { (method, $0) }
        }) {
            let stale = try check(
                receipt(of: purchases), receipts: method, hasKey: true, transactionID: "20", orderID: nil,
                replies: pages)
            #expect(stale.call == "production /inApps/v2/history/20?sort=DESCENDING")
            #expect(stale.lookUp == nil, "the first period's grant is no answer")
            #expect(stale.verdict?.granted == ["21"])
            let empty = try check(
                receipt(of: purchases), receipts: method, hasKey: true, transactionID: "20", orderID: nil,
                replies: [try ServerAPIScript.page([])])
            #expect(empty.verdict?.cause == .noLongerFound && empty.verdict?.doubt == nil, "the receipt proves the id")
        }
        #expect(
            try check(receipt(first), receipts: .local, transactionID: "20").verdict?.reason == .subscriptionExpired)
    }
}
