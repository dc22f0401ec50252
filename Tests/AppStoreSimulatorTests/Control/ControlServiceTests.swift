import Foundation
import Purchases
import Synchronization
import Testing

@testable import AppStoreSimulator

struct ControlServiceTests {
    private let service: VerifyReceiptService
    private let control: ControlService

    init() throws {
        let factory = try ReceiptFactory(authority: SimulatorAuthority.shared.get())
        let judge = ReceiptJudge(signer: factory.signer, acceptedSecrets: [])
        service = VerifyReceiptService(judge: judge, seed: 1) { now }
        control = ControlService(factory: factory, service: service)
    }

    @Test func aReceiptIsIssued() throws {
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

    @Test func aSpecificationSurvivesJSON() throws {
        let receipt = ReceiptSpecification.sample(
            [.gems(), .month("2", original: "1", endsInDays: 4)], .xcode, targetSize: 9000)
        #expect(try JSONDecoder().decode(ReceiptSpecification.self, from: JSONEncoder().encode(receipt)) == receipt)
    }

    @Test(arguments: [
        "", "{}",
        "{\"bundleId\":\"a\",\"environment\":\"moon\",\"purchases\":[],\"creationDate\":\"2026-11-21T04:59:13Z\"}",
        "{\"bundleId\":\"a\",\"environment\":\"xcode\",\"purchases\":[],\"creationDate\":\"today\"}",
        "{\"bundleId\":\"a\",\"environment\":\"xcode\",\"purchases\":[{\"transactionId\":\"1\",\"productId\":\"p\","
            + "\"purchasedAt\":\"2026-11-21T04:59:13Z\",\"kind\":\"gift\"}],\"creationDate\":\"2026-11-21T04:59:13Z\"}",
    ])
    func aSpecificationThatCannotBeReadIsRefused(json: String) throws {
        let reply = try reply("POST", "/simulator/receipts", json)
        #expect(reply.code == 400)
        #expect(try members(reply.body)["error"] is String)
    }

    @Test func aScriptIsTakenAndCleared() throws {
        let json = """
            {"transactions": [{"transactionId": "7", "faults": [{"reset": {}}]}],
             "behaviour": {"outage": "unavailable"}, "environments": ["sandbox"]}
            """
        #expect(try reply("POST", "/simulator/scripts", json).code == 204)
        #expect(service.book.withLock { $0.outage(in: .sandbox) } == .unavailable)
        #expect(service.book.withLock { $0.outage(in: .production) } == nil)
        #expect(service.book.withLock { $0.direct(callAbout: ["7"], in: .production).fault } == .reset)
        #expect(try reply("DELETE", "/simulator/scripts").code == 204)
        #expect(service.book.withLock { $0.outage(in: .sandbox) } == nil)
    }

    @Test func aScriptThatCannotBeReadOrHeldIsRefused() throws {
        #expect(try reply("POST", "/simulator/scripts", "{\"behaviour\":{\"outage\":\"rain\"}}").code == 400)
        let elsewhere = "{\"behaviour\":{},\"environments\":[\"moon\"]}"
        #expect(try reply("POST", "/simulator/scripts", elsewhere).code == 400)
        let faults = [String](repeating: "{\"reset\":{}}", count: ScriptBook.faultLimit + 1).joined(separator: ",")
        let json = "{\"transactions\":[{\"transactionId\":\"7\",\"faults\":[\(faults)]}]}"
        #expect(try reply("POST", "/simulator/scripts", json).code == 409)
    }

    @Test func statisticsAreTold() throws {
        service.statistics.withLock { $0.count(callAbout: ["7"]) }
        let reply = try reply("GET", "/simulator/statistics")
        #expect(try JSONDecoder().decode(Statistics.self, from: Data(reply.body)).callsByTransaction == ["7": 1])
    }

    @Test func otherPathsAreNotFound() throws {
        #expect(try reply("GET", "/simulator/receipts").code == 404)
        #expect(try reply("POST", "/verifyReceipt").code == 404)
    }

    private func reply(_ method: String, _ path: String, _ body: String = "") throws -> HTTPReply {
        let performance = control.perform(Request(method: method, path: path, body: Data(body.utf8)))
        guard case .reply(let reply) = performance.act else { throw NoReply() }
        return reply
    }

    private struct NoReply: Error {}
}
