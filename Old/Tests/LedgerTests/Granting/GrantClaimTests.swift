import Ledger
import LedgerConformance
import Purchases
import Testing

@Suite struct GrantClaimTests {
    private func result(
        held: (user: UserID, order: OrderID?), claimed: (user: UserID, order: OrderID?)
    ) throws -> ClaimResult {
        let claimant = Claimant(
            submissionID: "s", userID: claimed.user, bundleID: Samples.bundle, orderID: claimed.order)
        let claim = try #require(
            GrantClaim.claims(
                of: [Samples.purchase("1")], by: .verifyReceipt, claimant: claimant, at: Samples.noon
            ).first)
        return ClaimResult(
            of: claim, for: claimant, heldBy: GrantHolder(userID: held.user, orderID: held.order, eventID: "stored"))
    }

    @Test(arguments: [(nil, nil), ("o1", nil), (nil, "o1"), ("o1", "o1")] as [(OrderID?, OrderID?)])
    func theSameUserIsAnsweredUnlessBothSidesNameDifferentOrders(held: OrderID?, claimed: OrderID?) throws {
        #expect(try result(held: ("alice", held), claimed: ("alice", claimed)) == .answered("stored"))
    }

    @Test func theSameUserWithAnotherOrderIsRefused() throws {
        guard case .refused(let rejection) = try result(held: ("alice", "o1"), claimed: ("alice", "o2")) else {
            Issue.record("not refused")
            return
        }
        #expect(rejection.reason == .grantedToAnotherOrder)
        #expect(rejection.transactionID == "1")
    }

    @Test(arguments: [nil, "o1"] as [OrderID?])
    func anotherUserIsRefusedWhateverTheOrderAndNotToldWhoseItIs(order: OrderID?) throws {
        guard case .refused(let rejection) = try result(held: ("alice", "o1"), claimed: ("bob", order)) else {
            Issue.record("not refused")
            return
        }
        #expect(rejection.reason == .ownedByAnotherUser)
        #expect(!rejection.detail.contains("alice"))
    }

    @Test func purchasesWithTheSameKeyAreOneClaim() {
        let claimant = Claimant(submissionID: "s", userID: "alice", bundleID: Samples.bundle)
        let purchases = [
            Samples.purchase("1", type: .nonConsumable), Samples.purchase("2"),
            Samples.purchase("3", original: "1", type: .nonConsumable),
        ]
        let claims = GrantClaim.claims(of: purchases, by: .verifyReceipt, claimant: claimant, at: Samples.noon)
        #expect(claims.map(\.key.text) == ["production:t:1", "production:t:2"])
    }
}
