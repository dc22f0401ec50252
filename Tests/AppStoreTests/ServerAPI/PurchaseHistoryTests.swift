import Contract
import Testing

@testable import AppStore

@Suite("Purchase history")
struct PurchaseHistoryTests {
    private func history(_ transactions: [[String: String?]]) throws -> PurchaseHistory {
        var history = PurchaseHistory()
        for members in transactions {
            history.add(try #require(try SignedToken(members).verified().value))
        }
        return history
    }

    private func verdict(
        _ transactions: [[String: String?]], _ submission: Submission = Fixture.submission()
    ) throws -> Verdict {
        try history(transactions).verdict(ClaimPolicy(app: Fixture.app(), submission: submission))
    }

    private let gems = LookupScript.transaction("1")
    private let unreadable = LookupScript.transaction("2", ["revocationDate": "\"soon\""])
    private let refunded = LookupScript.transaction("3", ["revocationDate": SignedToken.moment(-1)])

    @Test("grants what is claimed of it")
    func granted() throws {
        #expect(try verdict([gems]).granted == ["1"])
        #expect(try verdict([gems, refunded]).granted == ["1"])
        #expect(try verdict([]).doubt?.becomes == .transactionNotFound)
    }

    @Test("the latest word counts, and of two at one moment the one that came later")
    func latest() throws {
        let refund = LookupScript.transaction("1", ["revocationDate": SignedToken.moment(-1)])
        #expect(try verdict([gems, refund]).reason == .transactionRevoked)
        #expect(try verdict([refund, gems]).granted == ["1"])
        let earlier = LookupScript.transaction("1", ["signedDate": SignedToken.moment(-1)])
        #expect(try verdict([refund, earlier]).reason == .transactionRevoked)
    }

    @Test("what cannot be read holds a claim that it may be, and no other")
    func unreadablePurchases() throws {
        #expect(try verdict([unreadable, refunded]).hold == .incompleteAnswer)
        #expect(try verdict([unreadable], Fixture.submission(transactionID: "2")).hold == .incompleteAnswer)
        #expect(
            try verdict([unreadable, refunded], Fixture.submission(transactionID: "3")).reason == .transactionRevoked)
        #expect(
            try verdict([unreadable], Fixture.submission(transactionID: "9")).doubt?.becomes == .transactionNotFound)
        #expect(try verdict([unreadable, gems]).hold == .incompleteAnswer)
        #expect(try verdict([unreadable, gems], Fixture.submission(transactionID: "1")).granted == ["1"])
        let nameless: [String: String?] = ["transactionId": nil]
        #expect(try verdict([nameless], Fixture.submission(transactionID: "9")).hold == .incompleteAnswer)
    }

    @Test("a transaction without a bundle id is not granted")
    func nobodys() throws {
        #expect(try verdict([LookupScript.transaction("1", ["bundleId": nil])]).hold == .incompleteAnswer)
    }
}
