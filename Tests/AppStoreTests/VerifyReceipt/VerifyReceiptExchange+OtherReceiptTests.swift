import Purchases
import Testing

@testable import AppStore

@Suite("verifyReceipt exchange: answers about another receipt")
struct VerifyReceiptExchangeOtherReceiptTests {
    private let created = Fixture.now.advanced(by: .zero - Fixture.day)

    /// The exchange's word on an answer, and whether it looked at the receipt for it.
    private func judge(_ body: [UInt8], holding purchases: [String]) throws -> (compared: Bool, verdict: Verdict?) {
        let receipt = ReceiptBuilder.receipt(
            purchases: purchases.map { ReceiptBuilder.purchase(transactionID: $0, productID: "gems") })
        let sent = try AppReceipt(der: receipt.der).purchases
        var exchange = Fixture.exchange(receiptCreatedAt: created)
        _ = exchange.start()
        var step = exchange.answered(.response(httpStatus: 200, retryAfter: nil, body: body), now: Fixture.now)
        let compared = step == .compare
        if compared {
            // Begun again, it repeats the step that is due.
            #expect(exchange.start() == .compare)
            step = exchange.compared(with: sent)
        }
        guard case .conclude(let verdict) = step else { return (compared, nil) }
        return (compared, verdict)
    }

    @Test("made at another moment, with none of the purchases sent: somebody else's answer, so it is asked again")
    func another() throws {
        let body = Answer.authentic(inApp: [Answer.record("1001")], createdAt: created.advanced(by: .seconds(1)))
        let judged = try judge(body, holding: ["2001", "2002"])
        #expect(judged.compared)
        #expect(judged.verdict == .retry(.noAnswer, notBefore: nil, patience: .unlimited))
    }

    @Test("one purchase that both have, or that goes back to one, is enough: then only the moments differ")
    func shared() throws {
        let both = Answer.authentic(inApp: [Answer.record("1001")], createdAt: created.advanced(by: .seconds(1)))
        #expect(try judge(both, holding: ["2001", "1001"]).verdict?.granted == ["1001"])
        let restored = Answer.record("3001", ["original_transaction_id": "2001"])
        let latest = Answer.authentic(inApp: [], latest: [restored], createdAt: created.advanced(by: .seconds(1)))
        #expect(try judge(latest, holding: ["2001"]).verdict?.granted == ["3001"])
    }

    @Test("the same moment, to the second, is not doubted, and neither is an answer that names none")
    func same() throws {
        for moment in [created, created.advanced(by: .milliseconds(999)), nil] {
            let judged = try judge(
                Answer.authentic(inApp: [Answer.record("1001")], createdAt: moment), holding: ["2001"])
            #expect(!judged.compared)
            #expect(judged.verdict?.granted == ["1001"])
        }
    }

    @Test("a receipt without purchases has nothing to be told by, and neither has an answer without any")
    func empty() throws {
        let body = Answer.authentic(inApp: [Answer.record("1001")], createdAt: created.advanced(by: .seconds(1)))
        #expect(try judge(body, holding: []).verdict?.granted == ["1001"])
        let bare = Answer.authentic(createdAt: created.advanced(by: .seconds(1)))
        let judged = try judge(bare, holding: ["2001"])
        #expect(!judged.compared)
        #expect(judged.verdict == Fixture.run([Answer.authentic()]).verdict)
    }
}
