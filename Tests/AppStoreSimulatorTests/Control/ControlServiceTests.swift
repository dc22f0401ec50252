import Contract
import Foundation
import HTTPServer
import Synchronization
import Testing

@testable import AppStoreSimulator
@testable import SimulatorServer

struct ControlServiceTests {
    private let context = ServerContext(seed: 1)
    private let transactions: ServerAPIService
    private let control: ControlService

    init() throws {
        let authority = try SimulatorAuthority.shared.get()
        let factory = SignedTransactionFactory(authority: authority)
        transactions = ServerAPIService(
            answers: ServerAPIAnswer(signer: factory.signer), apps: [], limits: [], context: context
        ) { now }
        control = ControlService(
            receipts: try ReceiptFactory(authority: authority), signed: factory, transactions: transactions,
            context: context
        ) { now }
    }

    @Test("A receipt is issued")
    func receipt() throws {
        let json = """
            {"bundleId": "com.example.game", "environment": "sandbox", "creationDate": "2026-11-21T04:59:13Z",
             "purchases": [{"transactionId": "7", "productId": "vip", "kind": "autoRenewable",
                            "purchasedAt": "2026-11-20T04:59:13Z", "expiresAt": "2026-12-20T04:59:13Z",
                            "webOrderLineItemId": 9, "ownership": "familyShared", "placement": "latestReceiptInfo"}]}
            """
        let reply = try reply("POST", "/simulator/receipts", json)
        let text = try #require(try members(reply.body)["receipt"] as? String)
        let receipt = try SignedReceipt(bytes: Array(#require(Data(base64Encoded: text))))
        let purchase = SimulatedPurchase(
            transactionID: "7", productID: "vip", kind: .autoRenewable, purchasedAt: try moment("2026-11-20T04:59:13Z"),
            expiresAt: try moment("2026-12-20T04:59:13Z"), webOrderLineItemID: 9, ownership: .familyShared,
            placement: .latestReceiptInfo)
        #expect(try ReceiptPayload.receipt(from: receipt.payload) == .sample([purchase], .sandbox))
    }

    @Test("A specification survives JSON")
    func specification() throws {
        let receipt = ReceiptSpecification.sample(
            [.gems(), .month("2", original: "1", endsInDays: 4)], .xcode, targetSize: 9000)
        #expect(try JSONDecoder().decode(ReceiptSpecification.self, from: JSONEncoder().encode(receipt)) == receipt)
    }

    @Test(
        "A specification that cannot be read is refused",
        arguments: [
            "", "{}",
            "{\"bundleId\":\"a\",\"environment\":\"moon\",\"purchases\":[],\"creationDate\":\"2026-11-21T04:59:13Z\"}",
            "{\"bundleId\":\"a\",\"environment\":\"xcode\",\"purchases\":[],\"creationDate\":\"today\"}",
            "{\"bundleId\":\"a\",\"environment\":\"xcode\",\"purchases\":[{\"transactionId\":\"1\",\"productId\":\"p\","
                + "\"purchasedAt\":\"2026-11-21T04:59:13Z\",\"kind\":\"gift\"}],\"creationDate\":\"2026-11-21T04:59:13Z\"}",
        ])
    func refusedSpecification(json: String) throws {
        let reply = try reply("POST", "/simulator/receipts", json)
        #expect(reply.status == 400)
        #expect(try members(reply.body)["error"] is String)
    }

    @Test("A script is taken and cleared")
    func script() throws {
        let json = """
            {"transactions": [{"transactionId": "7", "faults": [{"reset": {}}]}],
             "behaviour": {"outage": "unavailable"}, "environments": ["sandbox"]}
            """
        #expect(try reply("POST", "/simulator/scripts", json).status == 204)
        #expect(context.book.withLock { $0.outage(in: .sandbox) } == .unavailable)
        #expect(context.book.withLock { $0.outage(in: .production) } == nil)
        #expect(context.book.withLock { $0.next(forCallAbout: ["7"], in: .production).fault } == .reset)
        #expect(try reply("DELETE", "/simulator/scripts").status == 204)
        #expect(context.book.withLock { $0.outage(in: .sandbox) } == nil)
    }

    @Test("A script that cannot be read or held is refused")
    func refusedScript() throws {
        #expect(try reply("POST", "/simulator/scripts", "{\"behaviour\":{\"outage\":\"rain\"}}").status == 400)
        let elsewhere = "{\"behaviour\":{},\"environments\":[\"moon\"]}"
        #expect(try reply("POST", "/simulator/scripts", elsewhere).status == 400)
        let faults = [String](repeating: "{\"reset\":{}}", count: ScriptBook.faultLimit + 1).joined(separator: ",")
        let json = "{\"transactions\":[{\"transactionId\":\"7\",\"faults\":[\(faults)]}]}"
        #expect(try reply("POST", "/simulator/scripts", json).status == 409)
    }

    @Test("A signed transaction is issued")
    func signedTransaction() throws {
        let json = """
            {"transaction": {"bundleId": "com.example.game", "environment": "sandbox", "price": null,
                             "purchase": {"transactionId": "7", "productId": "gems",
                                          "purchasedAt": "2026-11-20T04:59:13Z"},
                             "changes": [{"set": {"name": "quantity", "json": "-5"}}]},
             "signedDate": 1795237153001, "header": [{"add": {"name": "kid", "json": "\\"k\\""}}]}
            """
        let reply = try reply("POST", "/simulator/signed-transactions", json)
        let signed = try SignedData(#require(try members(reply.body)["signedTransaction"] as? String))
        #expect(signed.header["kid"] as? String == "k")
        #expect(signed.payload["transactionId"] as? String == "7")
        #expect(signed.payload["environment"] as? String == "Sandbox")
        #expect(signed.payload["quantity"] as? Int == -5)
        #expect(signed.payload["signedDate"] as? Int64 == 1_795_237_153_001)
        #expect(signed.payload["price"] == nil)
        #expect(signed.payload["currency"] as? String == "USD")
    }

    @Test("Transactions are registered, revoked and forgotten")
    func registrations() throws {
        let registration = Registration(.sample(.gems("7")), appearance: .afterCalls(count: 1), status: .gracePeriod)
        let order = RegistrationOrder([registration])
        let json = String(decoding: try JSONEncoder().encode(order), as: UTF8.self)
        #expect(try JSONDecoder().decode(RegistrationOrder.self, from: Data(json.utf8)) == order)
        #expect(try reply("POST", "/simulator/transactions", json).status == 204)
        #expect(find("7") == nil)
        #expect(find("7")?.registration == registration)
        let revocation = "{\"transactionId\":\"7\",\"environment\":\"production\",\"reason\":\"1\"}"
        #expect(try reply("POST", "/simulator/revocations", revocation).status == 204)
        #expect(find("7")?.registration.transaction.purchase.cancelledAt == now)
        #expect(try reply("DELETE", "/simulator/transactions").status == 204)
        #expect(find("7") == nil)
        #expect(try reply("POST", "/simulator/revocations", revocation).status == 404)
    }

    @Test("A key is accepted if it is one")
    func keys() throws {
        let key = try ServerAPIKey()
        var order = KeyOrder(key)
        #expect(try reply("POST", "/simulator/keys", json(order)).status == 204)
        let token = try key.token(bundleID: "com.example.game", issuedAt: now)
        #expect(try transactions.keys.withLock { try $0.app(of: "Bearer \(token)", now: now) } == "com.example.game")
        order.publicKey = "none"
        #expect(try reply("POST", "/simulator/keys", json(order)).status == 400)
    }

    @Test("Statistics are told")
    func statistics() throws {
        context.statistics.withLock { $0.count(callAbout: ["7"]) }
        let reply = try reply("GET", "/simulator/statistics")
        #expect(try JSONDecoder().decode(Statistics.self, from: Data(reply.body)).callsByTransaction == ["7": 1])
    }

    @Test("Other paths are not found")
    func otherPaths() throws {
        #expect(try reply("GET", "/simulator/receipts").status == 404)
        #expect(try reply("POST", "/verifyReceipt").status == 404)
    }

    private func reply(_ method: String, _ path: String, _ body: String = "") throws -> Reply {
        var reader = HeadReader()
        reader.append("\(method) \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
        guard let head = try reader.next() else { throw NoReply() }
        guard case .reply(let reply) = control.answer(Request(head: head, body: Array(body.utf8))).action else {
            throw NoReply()
        }
        return reply
    }

    private func json(_ value: some Encodable) throws -> String {
        String(decoding: try JSONEncoder().encode(value), as: UTF8.self)
    }

    private func find(_ id: TransactionID) -> TransactionTable.Entry? {
        transactions.table.withLock { $0.transaction(id, of: "com.example.game", in: .production, now: now) }
    }

    private struct NoReply: Error {}
}
