import Contract
import Foundation
import Scheduling
import Testing

@testable import AppStore

/// Attacks on servers that verify receipts, and accidents that look like attacks.
@Suite("Attacks and breakage")
struct AttackTests {
    /// Answers a question about a receipt in turn.
    private func run(
        _ bodies: [[UInt8]], app: App = Fixture.app(), submission: Submission = Fixture.submission(),
        secrets: [SharedSecret] = [SharedSecret("first")]
    ) throws -> QuestionScript {
        let rules = try QuestionScript.rules(app, secrets: secrets)
        let question = ReceiptQuestion(
            subject: QuestionSubject(submission: submission, rules: rules), base64: Array("AAAA".utf8)[...],
            fingerprint: ReceiptFingerprint())
        return try QuestionScript(question, bodies.map { QuestionScript.reply($0) })
    }

    private let yesterday = Fixture.now.advanced(by: .seconds(-86_400))
    private let tomorrow = Fixture.now.advanced(by: Fixture.day)

    @Test("the same receipt twice, by anyone, gives the same purchases: the ledger can tell them again")
    func replay() throws {
        let body = Answer.authentic(inApp: [Answer.record("1"), Answer.record("2")])
        #expect(try run([body]).verdict == run([body]).verdict)
        #expect(try run([body]).verdict?.granted == ["1", "2"])
    }

    @Test("a restore's new transaction id keeps the original's, which is the key")
    func restore() throws {
        let body = Answer.authentic(inApp: [Answer.record("9", product: "level", ["original_transaction_id": "1"])])
        guard case .verified(let purchases, _) = try run([body]).verdict else {
            Issue.record("not verified")
            return
        }
        #expect(purchases.map(\.purchase.originalTransactionID) == ["1"])
        #expect(purchases.map(\.type) == [.nonConsumable])
    }

    @Test("another app's receipt with equal product ids, and its sandbox")
    func foreignApp() throws {
        let foreign = Answer.authentic(bundleID: "com.example.clone", inApp: [Answer.record()])
        let sandboxed = Answer.authentic(
            environment: "Sandbox", bundleID: "com.example.clone", inApp: [Answer.record()])
        #expect(try run([foreign, foreign]).verdict?.reason == .bundleMismatch)
        #expect(try run([Answer.status(21007), sandboxed, sandboxed]).verdict?.reason == .bundleMismatch)
    }

    @Test("a cheap product's receipt for an expensive one")
    func cheapForExpensive() throws {
        let body = Answer.authentic(inApp: [Answer.record("1")])
        let named = Fixture.submission(transactionID: "1", productID: "level")
        #expect(try run([body], submission: named).verdict?.reason == .productMismatch)
        let unnamed = try run([body], submission: Fixture.submission(productID: "level")).verdict
        #expect(unnamed?.cause == .notFoundYet)
        #expect(unnamed?.doubt?.becomes == .transactionNotFound)
    }

    @Test("an old purchase claimed as new grants that one alone, by its own id")
    func oldAsNew() throws {
        let body = Answer.authentic(inApp: [Answer.record("1"), Answer.record("2")])
        #expect(try run([body], submission: Fixture.submission(transactionID: "1")).verdict?.granted == ["1"])
        let invented = try run([body], submission: Fixture.submission(transactionID: "3")).verdict
        #expect(invented?.doubt?.becomes == .transactionNotFound)
    }

    @Test("a sandbox receipt where sandbox is not granted, whatever it says of itself")
    func sandboxInProduction() throws {
        let app = Fixture.app(sandbox: .reject)
        let lying = try AppReceipt(der: ReceiptBuilder.receipt(origin: "Production").der)
        #expect(lying.contradiction(with: app) == nil)
        let refused = try ReceiptScript.run(
            try ReceiptScript.forged(), [Answer.status(21007), Answer.status(21007)], app: app,
            Fixture.submission(environment: .production))
        #expect(refused.verdict?.reason == .environmentNotAllowed)
    }

    @Test("a refunded purchase in either list")
    func refunded() throws {
        let refunded = Answer.record("1", ["cancellation_date_ms": "1795237142000", "cancellation_reason": "1"])
        #expect(try run([Answer.authentic(inApp: [refunded])]).verdict?.reason == .transactionRevoked)
        let latest = Answer.authentic(inApp: [Answer.record("1")], latest: [refunded])
        #expect(try run([latest]).verdict?.reason == .transactionRevoked)
    }

    @Test("a family member's share, and somebody else's account token")
    func ownership() throws {
        let shared = Answer.authentic(inApp: [
            Answer.record("1", product: "level", ["in_app_ownership_type": "FAMILY_SHARED"])
        ])
        #expect(try run([shared]).verdict?.reason == .familySharedNotAllowed)
        let owned = Answer.authentic(latest: [
            Answer.record("1", ["app_account_token": "7E3FB204-2BB7-4D2D-9B64-0C5B6B8BB4A1"])
        ])
        let thief = Fixture.submission(token: "00000000-0000-4000-8000-000000000000")
        let owner = Fixture.submission(token: "7e3fb204-2bb7-4d2d-9b64-0c5b6b8bb4a1")
        #expect(try run([owned], submission: thief).verdict?.reason == .accountTokenMismatch)
        #expect(try run([owned], submission: owner).verdict?.granted == ["1"])
        #expect(try run([owned]).verdict?.hold == .accountTokenMissing, "who leaves it out is not let through")
    }

    @Test("a subscription's past is not granted again, its current period is, however late we are")
    func renewals() throws {
        let past = Answer.period("1", line: "71", expires: yesterday)
        let current = Answer.period("2", line: "72", expires: tomorrow)
        #expect(try run([Answer.authentic(inApp: [past], latest: [current, past])]).verdict?.granted == ["2"])
        #expect(try run([Answer.authentic(latest: [past])]).verdict?.reason == .subscriptionExpired)
    }

    @Test("quantities that StoreKit does not sell", arguments: ["0", "-5", "11", "4294967297", "1e30"])
    func quantities(quantity: String) throws {
        let body = Answer.authentic(inApp: [Answer.record("1", ["quantity": quantity])])
        #expect(try run([body]).verdict?.hold == .unknownAnswer, "Apple attests it, so a person must look")
    }

    @Test("ids that are paths, and enumerations this version does not know, neither grant nor fail")
    func unknownForms() throws {
        let path = Answer.authentic(inApp: [Answer.record("../../x")])
        let rented = Answer.authentic(inApp: [Answer.record("1", ["in_app_ownership_type": "RENTED"])])
        #expect(try run([path]).verdict?.hold == .incompleteAnswer)
        #expect(try run([rented]).verdict?.hold == .incompleteAnswer)
    }

    @Test("random and damaged answers always give one verdict, and never grant what is not JSON", arguments: 0..<10)
    func damagedAnswers(seed: UInt64) throws {
        var generator = SplitMix64(seed: seed)
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
            let damaged = try run(Array(repeating: body, count: 3), secrets: [])
            try #require(damaged.verdict != nil)
            guard case .verified(let purchases, _) = damaged.verdict else { continue }
            granted += 1
            #expect(!purchases.isEmpty)
            #expect((try? JSONSerialization.jsonObject(with: Data(body))) != nil)
        }
        #expect((1..<1_000).contains(granted))
    }
}
