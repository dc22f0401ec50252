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
        var exchange = Fixture.exchange(sent: ReceiptMark(createdAt: created, transactionID: sent.first?.transactionID))
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

    /// The verdict once Apple was asked again, about a receipt with the purchases 2001 and 2002.
    private func askTwice(_ first: [UInt8], _ second: [UInt8]) throws -> Verdict? {
        let sent = try AppReceipt(
            der: ReceiptBuilder.receipt(
                purchases: ["2001", "2002"].map { ReceiptBuilder.purchase(transactionID: $0, productID: "gems") }
            ).der
        )
        #expect(ReceiptMark(of: sent).transactionID == "2001")
        var exchange = Fixture.exchange(sent: ReceiptMark(createdAt: created, transactionID: "2001"))
        guard case .call(let environment, let secret, isFresh: false) = exchange.start() else { return nil }
        #expect(
            exchange.answered(.response(httpStatus: 200, retryAfter: nil, body: first), now: Fixture.now) == .compare)
        // What comes over the same connection may be the answer to the same stranger once more.
        let again = exchange.compared(with: sent.purchases)
        #expect(again == .call(environment: environment, secret: secret, isFresh: true))
        var step = exchange.answered(.response(httpStatus: 200, retryAfter: nil, body: second), now: Fixture.now)
        if step == .compare { step = exchange.compared(with: sent.purchases) }
        guard case .conclude(let verdict) = step else { return nil }
        return verdict
    }

    @Test("with none of the purchases sent: it may be somebody else's, so Apple is asked again")
    func another() throws {
        func foreign(_ id: String) -> [UInt8] {
            Answer.authentic(inApp: [Answer.record(id)], createdAt: created.advanced(by: .seconds(1)))
        }
        // The connection is shifted: now comes the answer to the first request, or that of somebody else again.
        let own = Answer.authentic(inApp: [Answer.record("2001")], createdAt: created)
        #expect(try askTwice(foreign("1001"), own)?.granted == ["2001"])
        #expect(
            try askTwice(foreign("1001"), foreign("1002"))
                == .retry(.noAnswer, notBefore: nil, patience: .unlimited))
        #expect(try askTwice(foreign("1001"), Answer.status(21003))?.retry?.cause == .perhapsNotAuthentic)
    }

    @Test("said twice of the same receipt, it is Apple's word about it")
    func insisted() throws {
        let body = Answer.authentic(inApp: [Answer.record("1001")], createdAt: created.advanced(by: .seconds(1)))
        #expect(try askTwice(body, body)?.granted == ["1001"])
    }

    @Test("two receipts of one player share purchases: the moment tells them apart, and Apple is asked again")
    func earlier() throws {
        let later = created.advanced(by: .seconds(1))
        let earlier = Answer.authentic(inApp: [Answer.record("2001")], createdAt: created.advanced(by: .seconds(-1)))
        let own = Answer.authentic(inApp: ["2001", "2002"].map { Answer.record($0) }, createdAt: created)
        #expect(try askTwice(earlier, own)?.granted == ["2001", "2002"])
        // Apple's own answer, in whatever way it words the moment: only what comes over a fresh connection is believed.
        let worded = Answer.authentic(inApp: ["2001", "2002"].map { Answer.record($0) }, createdAt: later)
        #expect(try askTwice(worded, worded)?.granted == ["2001", "2002"])
    }

    @Test("one purchase that both have, or that goes back to one, is enough where the moment is the receipt's")
    func shared() throws {
        let both = Answer.authentic(inApp: [Answer.record("1001")], createdAt: created)
        #expect(try judge(both, holding: ["2001", "1001"]).verdict?.granted == ["1001"])
        let restored = Answer.record("3001", ["original_transaction_id": "2001"])
        let latest = Answer.authentic(inApp: [], latest: [restored], createdAt: created)
        #expect(try judge(latest, holding: ["2001"]).verdict?.granted == ["3001"])
    }

    @Test("the same moment does not make it the receipt's: many are made in one second", arguments: [0, 999, nil])
    func same(milliseconds: Int?) throws {
        let moment = milliseconds.map { created.advanced(by: .milliseconds($0)) }
        let foreign = Answer.authentic(inApp: [Answer.record("1001")], createdAt: moment)
        let own = Answer.authentic(inApp: [Answer.record("2002"), Answer.record("2001")], createdAt: moment)
        #expect(try askTwice(foreign, own)?.granted == ["2001", "2002"])
    }

    @Test("an answer that names its first purchase is not doubted, and the receipt not read again")
    func named() throws {
        let own = Answer.authentic(inApp: [Answer.record("3001"), Answer.record("2001")], createdAt: created)
        let judged = try judge(own, holding: ["2001", "2002"])
        #expect(!judged.compared)
        #expect(judged.verdict?.granted == ["2001", "3001"])
    }

    @Test("a receipt without purchases is told by its moment, to the second, where both name one")
    func withoutPurchases() throws {
        for moment in [created, created.advanced(by: .milliseconds(999)), nil] {
            let judged = try judge(Answer.authentic(inApp: [Answer.record("1001")], createdAt: moment), holding: [])
            #expect(!judged.compared)
            #expect(judged.verdict?.granted == ["1001"])
        }
        let other = Answer.authentic(inApp: [Answer.record("1001")], createdAt: created.advanced(by: .seconds(1)))
        let judged = try judge(other, holding: [])
        // Asked again.
        #expect(judged.compared && judged.verdict == nil)
    }

    @Test("an answer without purchases may be another app's: it counts if it is said over a fresh connection, too")
    func empty() throws {
        let foreign = Answer.authentic(bundleID: "com.example.other", createdAt: created)
        let own = Answer.authentic(inApp: [Answer.record("2001")], createdAt: created)
        #expect(try askTwice(foreign, own)?.granted == ["2001"])
        // Apple's last word.
        #expect(try askTwice(foreign, foreign)?.reason == .bundleMismatch)
        let bare = Answer.authentic(createdAt: created)
        #expect(try askTwice(bare, bare)?.retry?.cause == .notFoundYet)
    }

    @Test("a receipt without purchases is answered without any, of its moment")
    func emptyOnBothSides() throws {
        let judged = try judge(Answer.authentic(createdAt: created), holding: [])
        #expect(!judged.compared)
        #expect(judged.verdict?.retry?.cause == .notFoundYet)
        let other = try judge(Answer.authentic(createdAt: created.advanced(by: .seconds(1))), holding: [])
        #expect(other.compared && other.verdict == nil)
    }
}
