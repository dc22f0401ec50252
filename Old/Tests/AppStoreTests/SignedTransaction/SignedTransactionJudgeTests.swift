import Foundation
import Purchases
import Testing

@testable import AppStore

@Suite("Verdicts on signed transactions")
struct SignedTransactionJudgeTests {
    private func verdict(
        _ changes: [String: String?] = [:], app: App = Fixture.app(), submission: Submission = Fixture.submission(),
        by verifiedBy: VerifiedBy = .signedTransaction
    ) throws -> Verdict {
        var payload = SignedToken.consumable
        for (name, json) in changes { payload.set(name, json) }
        let transaction = try SignedTransaction(payload: Array(SignedToken.object(payload).utf8))
        return SignedTransactionJudge(app: app, submission: submission, receivedAt: Fixture.now)
            .verdict(on: transaction, by: verifiedBy)
    }

    @Test(
        "a purchase of ours is granted, and says how it was proven",
        arguments: [VerifiedBy.signedTransaction, .serverAPI])
    func granted(verifiedBy: VerifiedBy) throws {
        let verdict = try verdict(by: verifiedBy)
        guard case .verified(let purchases, let by) = verdict else {
            Issue.record("\(verdict)")
            return
        }
        #expect(purchases.map(\.purchase.transactionID) == ["2000000000000001"])
        #expect(by == verifiedBy)
    }

    @Test("another app's purchase of an equal product is refused")
    func foreign() throws {
        #expect(try verdict(["bundleId": "\"com.example.clone\""]).reason == .bundleMismatch)
        // Whatever else is wrong with it: the other app's affairs are not ours to hold.
        #expect(try verdict(["bundleId": "\"com.example.clone\"", "type": "\"Rental\""]).reason == .bundleMismatch)
    }

    @Test("what Apple signed without what a grant needs waits for a person")
    func held() throws {
        for (member, json) in [
            ("bundleId", nil), ("transactionId", nil), ("originalTransactionId", nil), ("type", "\"Rental\""),
            ("environment", "\"Moon\""), ("revocationDate", "\"soon\""), ("expiresDate", "{}"),
        ] as [(String, String?)] {
            #expect(try verdict([member: json]).hold == .incompleteAnswer, "\(member)")
        }
    }

    @Test("a transaction that is not the claimed one is refused at once: no waiting makes it so")
    func otherTransaction() throws {
        let claim = Fixture.submission(transactionID: "2000000000000002")
        #expect(try verdict(submission: claim).reason == .transactionNotFound)
        #expect(try verdict(submission: Fixture.submission(transactionID: "2000000000000001")).granted.count == 1)
    }

    @Test("a cheap product's proof for an expensive one is refused")
    func otherProduct() throws {
        #expect(try verdict(submission: Fixture.submission(productID: "level")).reason == .productMismatch)
        #expect(try verdict(submission: Fixture.submission(productID: "gems")).granted.count == 1)
        let both = Fixture.submission(transactionID: "2000000000000001", productID: "level")
        #expect(try verdict(submission: both).reason == .productMismatch)
    }

    @Test("the sandbox is granted by the app's policy")
    func sandbox() throws {
        let changes = ["environment": "\"Sandbox\""]
        #expect(try verdict(changes, app: Fixture.app(sandbox: .reject)).reason == .environmentNotAllowed)
        #expect(try verdict(changes, app: Fixture.app(sandbox: .users(["player-2"]))).reason == .environmentNotAllowed)
        #expect(try verdict(changes, app: Fixture.app(sandbox: .users(["player-1"]))).granted.count == 1)
    }

    @Test("a family member's claim, somebody else's account, a refund, a quantity that nobody sells")
    func policy() throws {
        #expect(try verdict(["inAppOwnershipType": "\"FAMILY_SHARED\""]).reason == .familySharedNotAllowed)
        let token = "\"7E3FB204-2BB7-4D2D-9B64-0C5B6B8BB4A1\""
        let thief = Fixture.submission(token: "00000000-0000-4000-8000-000000000000")
        #expect(try verdict(["appAccountToken": token], submission: thief).reason == .accountTokenMismatch)
        let owner = Fixture.submission(token: "7e3fb204-2bb7-4d2d-9b64-0c5b6b8bb4a1")
        #expect(try verdict(["appAccountToken": token], submission: owner).granted.count == 1)
        #expect(try verdict(["revocationDate": SignedToken.moment(-1)]).reason == .transactionRevoked)
        for quantity in ["-5", "0", "11", "4294967297", "1e30"] {
            #expect(try verdict(["quantity": quantity]).reason == .quantityOutOfRange)
        }
    }

    @Test("no verdict leaves a doubt that time would settle, whatever is claimed")
    func noDoubt() throws {
        for id in [nil, "2000000000000001", "2000000000000002"] as [TransactionID?] {
            for product in [nil, "gems", "level", "nothing"] as [ProductID?] {
                let verdict = try verdict(submission: Fixture.submission(transactionID: id, productID: product))
                #expect(verdict.retry == nil)
            }
        }
    }
}
