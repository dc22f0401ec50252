import Foundation
import Purchases
import Testing

@testable import AppStore

/// What people have tried, or what has happened by itself, against servers that verify receipts.
@Suite("Attacks and breakage")
struct AttackTests {
    private let yesterday = Fixture.now.advanced(by: .seconds(-86_400))
    private let tomorrow = Fixture.now.advanced(by: Fixture.day)

    @Test("the same receipt twice, by anyone, gives the same purchases: the ledger can tell them again")
    func replay() {
        let body = Answer.authentic(inApp: [Answer.record("1"), Answer.record("2")])
        #expect(Fixture.run([body]).verdict == Fixture.run([body]).verdict)
        #expect(Fixture.run([body]).verdict?.granted == ["1", "2"])
    }

    @Test("a restore's new transaction id keeps the original's, which is the key")
    func restore() {
        let body = Answer.authentic(inApp: [Answer.record("9", product: "level", ["original_transaction_id": "1"])])
        guard case .verified(let purchases, _) = Fixture.run([body]).verdict else {
            Issue.record("not verified")
            return
        }
        #expect(purchases.map(\.purchase.originalTransactionID) == ["1"])
        #expect(purchases.map(\.type) == [.nonConsumable])
    }

    @Test("another app's receipt with equal product ids, and its sandbox")
    func foreignApp() {
        let foreign = Answer.authentic(bundleID: "com.example.clone", inApp: [Answer.record()])
        let sandboxed = Answer.authentic(
            environment: "Sandbox", bundleID: "com.example.clone", inApp: [Answer.record()])
        #expect(Fixture.run([foreign]).verdict?.reason == .bundleMismatch)
        #expect(Fixture.run([Answer.status(21007), sandboxed]).verdict?.reason == .bundleMismatch)
    }

    @Test("a cheap product's receipt for an expensive one")
    func cheapForExpensive() {
        let body = Answer.authentic(inApp: [Answer.record("1")])
        let named = Fixture.submission(transactionID: "1", productID: "level")
        #expect(Fixture.run([body], submission: named).verdict?.reason == .productMismatch)
        let unnamed = Fixture.run([body], submission: Fixture.submission(productID: "level")).verdict
        #expect(unnamed?.retry?.cause == .notFoundYet)
        #expect(unnamed?.retry?.then == .transactionNotFound)
    }

    @Test("an old purchase claimed as new grants that one alone, by its own id")
    func oldAsNew() {
        let body = Answer.authentic(inApp: [Answer.record("1"), Answer.record("2")])
        #expect(Fixture.run([body], submission: Fixture.submission(transactionID: "1")).verdict?.granted == ["1"])
        let invented = Fixture.run([body], submission: Fixture.submission(transactionID: "3")).verdict
        #expect(invented?.retry?.then == .transactionNotFound)
    }

    @Test("a sandbox receipt where sandbox is not granted, whatever it says of itself")
    func sandboxInProduction() throws {
        let app = Fixture.app(sandbox: .reject)
        let lying = try AppReceipt(der: ReceiptBuilder.receipt(origin: "Production").der)
        #expect(lying.contradiction(with: app) == nil)
        let run = Fixture.run(
            [Answer.status(21007), Answer.status(21007)], app: app,
            submission: Fixture.submission(environment: .production))
        #expect(run.verdict?.reason == .environmentNotAllowed)
    }

    @Test("a refunded purchase in either list")
    func refunded() {
        let refunded = Answer.record("1", ["cancellation_date_ms": "1795237142000", "cancellation_reason": "1"])
        #expect(Fixture.run([Answer.authentic(inApp: [refunded])]).verdict?.reason == .transactionRevoked)
        let latest = Answer.authentic(inApp: [Answer.record("1")], latest: [refunded])
        #expect(Fixture.run([latest]).verdict?.reason == .transactionRevoked)
    }

    @Test("a family member's share, and somebody else's account token")
    func ownership() {
        let shared = Answer.authentic(inApp: [
            Answer.record("1", product: "level", ["in_app_ownership_type": "FAMILY_SHARED"])
        ])
        #expect(Fixture.run([shared]).verdict?.reason == .familySharedNotAllowed)
        let owned = Answer.authentic(latest: [
            Answer.record("1", ["app_account_token": "7E3FB204-2BB7-4D2D-9B64-0C5B6B8BB4A1"])
        ])
        let thief = Fixture.submission(token: "00000000-0000-4000-8000-000000000000")
        let owner = Fixture.submission(token: "7e3fb204-2bb7-4d2d-9b64-0c5b6b8bb4a1")
        #expect(Fixture.run([owned], submission: thief).verdict?.reason == .accountTokenMismatch)
        #expect(Fixture.run([owned], submission: owner).verdict?.granted == ["1"])
    }

    @Test("a subscription's past is not granted again, its current period is, however late we are")
    func renewals() {
        let past = Answer.period("1", line: "71", expires: yesterday)
        let current = Answer.period("2", line: "72", expires: tomorrow)
        #expect(Fixture.run([Answer.authentic(inApp: [past], latest: [current, past])]).verdict?.granted == ["2"])
        #expect(Fixture.run([Answer.authentic(latest: [past])]).verdict?.reason == .subscriptionExpired)
    }

    @Test("quantities that StoreKit does not sell", arguments: ["0", "-5", "11", "4294967297", "1e30"])
    func quantities(quantity: String) {
        let body = Answer.authentic(inApp: [Answer.record("1", ["quantity": quantity])])
        #expect(Fixture.run([body]).verdict?.reason == .quantityOutOfRange)
    }

    @Test("ids that are paths, and enumerations this version does not know, neither grant nor fail")
    func unknownForms() {
        let path = Answer.authentic(inApp: [Answer.record("../../x")])
        let rented = Answer.authentic(inApp: [Answer.record("1", ["in_app_ownership_type": "RENTED"])])
        #expect(Fixture.run([path]).verdict?.hold == .incompleteAnswer)
        #expect(Fixture.run([rented]).verdict?.hold == .incompleteAnswer)
    }

    @Test("an outage's HTML page with HTTP 200, and a redirect")
    func outage() {
        for (status, body) in [(200, "<html></html>"), (302, ""), (307, "{\"status\":0}")] {
            var exchange = Fixture.exchange()
            _ = exchange.start()
            let reply = AppStoreReply.response(httpStatus: status, retryAfter: nil, body: Array(body.utf8))
            let step = exchange.answered(reply, now: Fixture.now)
            #expect(step == .conclude(.retry(.noAnswer, notBefore: nil, patience: .unlimited)))
        }
    }

    @Test("random and damaged answers always give one verdict, and never grant what is not JSON", arguments: 0..<10)
    func damagedAnswers(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let whole = Answer.authentic(
            inApp: [Answer.record("1"), Answer.period("2", line: "72", expires: tomorrow)], latest: [Answer.record("3")]
        )
        var granted = 0
        for _ in 0..<1_000 {
            var body = whole
            for _ in 0..<Int.random(in: 0...3, using: &generator) {
                body[.random(in: 0..<body.count, using: &generator)] = .random(in: 0...255, using: &generator)
            }
            if Int.random(in: 0..<4, using: &generator) == 0 {
                body.removeLast(.random(in: 0..<body.count, using: &generator))
            }
            var exchange = Fixture.exchange(secrets: [])
            var step = exchange.start()
            var calls = 0
            while case .call = step, calls < 3 {
                calls += 1
                step = exchange.answered(.response(httpStatus: 200, retryAfter: nil, body: body), now: Fixture.now)
            }
            guard case .conclude(let verdict) = step else {
                Issue.record("still asking after \(calls) calls")
                return
            }
            guard case .verified(let purchases, _) = verdict else { continue }
            granted += 1
            #expect(!purchases.isEmpty)
            #expect((try? JSONSerialization.jsonObject(with: Data(body))) != nil)
        }
        #expect((1..<1_000).contains(granted))
    }
}
