import Contract
import Testing

@testable import AppStore

@Suite("Several transactions of one purchase")
struct SamePurchaseTests {
    private let later = Fixture.now.advanced(by: Fixture.day)

    private func verdict(_ purchases: Purchase..., claiming transactionID: TransactionID, token: String? = nil)
        -> Verdict
    {
        let submission = Fixture.submission(transactionID: transactionID, token: token)
        return ClaimPolicy(app: Fixture.app(), submission: submission).verdict(on: purchases, by: .serverAPI)
    }

    private func level(_ id: TransactionID, revokedAt: Timestamp? = nil, at: Timestamp = Fixture.now) -> Purchase {
        Fixture.purchase(id, original: "200", product: "level", purchasedAt: at, revokedAt: revokedAt)
    }

    private func period(_ id: TransactionID, revokedAt: Timestamp? = nil, isUpgraded: Bool = false) -> Purchase {
        Fixture.purchase(
            id, original: "100", product: "vip", expiresAt: later, revokedAt: revokedAt, isUpgraded: isUpgraded)
    }

    @Test("a refund of one counts for all, whichever is claimed", arguments: ["200", "202"] as [TransactionID])
    func refunded(claimed: TransactionID) {
        #expect(
            verdict(level("200", revokedAt: later), level("202"), claiming: claimed).reason == .transactionRevoked)
        #expect(
            verdict(level("200"), level("202", revokedAt: later), claiming: claimed).reason == .transactionRevoked)
        #expect(verdict(level("200"), level("202"), claiming: claimed).granted == [claimed])
    }

    @Test("a refund or an upgrade of a period counts for it under every id, and for no other period")
    func period() {
        #expect(verdict(period("101"), period("103", revokedAt: later), claiming: "101").reason == .transactionRevoked)
        #expect(verdict(period("101"), period("103", isUpgraded: true), claiming: "101").reason == .transactionRevoked)
        let next = Fixture.purchase(
            "104", original: "100", product: "vip", purchasedAt: later, expiresAt: later.advanced(by: Fixture.day))
        #expect(verdict(period("103", revokedAt: later), next, claiming: "104").granted == ["104"])
    }

    @Test("a refund from before a period begins counts for it: Apple may charge it a day ahead")
    func refundedAhead() {
        func ahead(_ id: TransactionID, revokedAt: Timestamp? = nil) -> Purchase {
            Fixture.purchase(
                id, original: "100", product: "vip", purchasedAt: later, expiresAt: later.advanced(by: Fixture.day),
                revokedAt: revokedAt)
        }
        #expect(
            verdict(ahead("101"), ahead("103", revokedAt: Fixture.now), claiming: "101").reason == .transactionRevoked)
        #expect(verdict(ahead("101"), ahead("103"), claiming: "101").granted == ["101"])
    }

    @Test("a refund from before a purchase was of an earlier one")
    func boughtAgain() {
        let first = level("200", revokedAt: Fixture.now, at: Fixture.now.advanced(by: .zero - Fixture.day))
        let second = level("202", at: Fixture.now.advanced(by: .seconds(1)))
        #expect(verdict(first, second, claiming: "202").granted == ["202"])
    }

    @Test("an account token of one binds all")
    func token() {
        let bound = Fixture.purchase("202", original: "200", product: "level", token: "aa")
        #expect(verdict(level("200"), bound, claiming: "200", token: "bb").reason == .accountTokenMismatch)
        #expect(verdict(level("200"), bound, claiming: "200", token: "AA").granted == ["200"])
    }

    @Test("consumables have nothing to do with each other")
    func consumables() {
        let refunded = Fixture.purchase("2", revokedAt: later)
        #expect(verdict(Fixture.purchase("1"), refunded, claiming: "1").granted == ["1"])
    }
}
