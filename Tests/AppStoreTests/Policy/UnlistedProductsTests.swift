import Contract
import Testing

@testable import AppStore

/// Every cell of the table of unlisted products: evidence × claim × what else is attested × policy.
@Suite("Products that the apps file does not list")
struct UnlistedProductsTests {
    private let later = Fixture.now.advanced(by: Fixture.day)

    private func app(_ policy: UnlistedProductsPolicy = .hold) -> App {
        App(
            bundleID: "com.example.game", sandbox: .reject, products: .catalogue(Fixture.products),
            unlistedProducts: policy)
    }

    private func verdict(
        _ purchases: [Purchase], _ submission: Submission = Fixture.submission(),
        _ policy: UnlistedProductsPolicy = .hold, by verifiedBy: VerifiedBy = .verifyReceipt
    ) -> Verdict {
        ClaimPolicy(app: app(policy), submission: submission).verdict(on: purchases, by: verifiedBy)
    }

    private let new = Fixture.purchase("9", product: "new")
    private let listed = Fixture.purchase("1", purchasedAt: Fixture.now.advanced(by: .seconds(-9)))

    @Test("hold the purchase that is claimed, by every way of verification", arguments: VerifiedBy.allCases)
    func claimed(way: VerifiedBy) {
        for claim in [
            Fixture.submission(), Fixture.submission(transactionID: "9"), Fixture.submission(productID: "new"),
        ] {
            #expect(verdict([new], claim, by: way).hold == .productNotConfigured)
            #expect(verdict([new], claim, .fail, by: way).reason == .unknownProduct)
        }
        for claim in [Fixture.submission(transactionID: "9"), Fixture.submission(productID: "new")] {
            #expect(verdict([listed, new], claim, by: way).hold == .productNotConfigured)
        }
        #expect(verdict([listed, new], Fixture.submission(transactionID: "1")).granted == ["1"])
        #expect(verdict([listed, new], Fixture.submission(productID: "gems")).granted == ["1"])
    }

    @Test("hold a signed transaction, and name the product in the same words each time")
    func signed() throws {
        let token = try SignedToken(["productId": "\"new\""])
        let policy = ClaimPolicy(app: app(), submission: Fixture.submission())
        let verdict = policy.verdict(on: try token.verified().get(), by: .signedTransaction)
        #expect(
            verdict
                == .hold(
                    .productNotConfigured, detail: "Apple attests what the apps file does not list: new.",
                    purchases: [Fixture.names("2000000000000001", of: "new", "t:2000000000000001")]))
    }

    @Test("hold with the names that their grants have from when they were listed, by the kind that they seem to be")
    func names() {
        let restored = Fixture.purchase("9", original: "8", product: "new")
        #expect(verdict([restored]).purchases == [Fixture.names("9", of: "new", "t:8")])
        let units = Fixture.purchase("9", product: "new", quantity: 2)
        #expect(verdict([units]).purchases == [Fixture.names("9", of: "new", "t:9")])
        let period = Fixture.purchase("9", original: "8", product: "new", expiresAt: later)
        #expect(
            verdict([period]).purchases == [Fixture.names("9", of: "new", "p:8:\(Fixture.now.milliseconds)")])
        let refunded = Fixture.purchase("10", revokedAt: later)
        #expect(verdict([new, refunded]).purchases == [Fixture.names("9", of: "new", "t:9")], "the other one is over")
        guard case .verified(let granted, _) = verdict([listed, new]) else {
            Issue.record("not verified")
            return
        }
        #expect(
            granted.passedOver?.holding
                == [PassedOver.Holding(.productNotConfigured, Fixture.names("9", of: "new", "t:9"))])
    }

    @Test("hold where nothing else can be granted, whatever is newer")
    func nothingElse() {
        let refunded = Fixture.purchase("10", purchasedAt: later, revokedAt: later)
        #expect(verdict([new, refunded]).hold == .productNotConfigured)
        #expect(verdict([new, refunded], Fixture.submission(), .fail).reason == .transactionRevoked)
    }

    @Test("are passed over beside purchases that are granted, and what was passed over is told")
    func beside() throws {
        let old = Fixture.purchase("2", purchasedAt: Fixture.now.advanced(by: .seconds(-8)), revokedAt: Fixture.now)
        let foreign = Fixture.purchase("3", purchasedAt: Fixture.now.advanced(by: .seconds(-7)), token: "b")
        let expired = Fixture.purchase("4", product: "vip", expiresAt: Fixture.now)
        let sandbox = Fixture.purchase("5", environment: .sandbox)
        let shared = Fixture.purchase("6", product: "level", ownership: .familyShared)
        let more = Fixture.purchase("7", product: "level")
        guard
            case .verified(let granted, _) = verdict(
                [new, listed, old, foreign, expired, sandbox, shared, more], Fixture.submission(token: "a"))
        else {
            Issue.record("not verified")
            return
        }
        #expect(granted.map(\.purchase.transactionID) == ["1", "7"])
        #expect(granted.map { $0.passedOver != nil } == [false, true], "told once")
        let passedOver = try #require(granted.passedOver)
        #expect(
            passedOver.named.map { [$0.reason.rawValue, $0.transactionID.rawValue, $0.productID.rawValue] } == [
                ["product_not_configured", "9", "new"], ["account_token_mismatch", "3", "gems"],
                ["environment_not_allowed", "5", "gems"], ["family_shared_not_allowed", "6", "level"],
                ["transaction_revoked", "2", "gems"], ["subscription_expired", "4", "vip"],
            ])
        #expect(passedOver.counts.values.allSatisfy { $0 == 1 })
        guard case .verified(let whole, _) = verdict([new, listed], Fixture.submission(), .fail) else {
            Issue.record("not verified")
            return
        }
        #expect(whole.passedOver?.counts == [.unknownProduct: 1])
        guard case .verified(let alone, _) = verdict([listed]) else {
            Issue.record("not verified")
            return
        }
        #expect(alone.passedOver == nil)
    }

    @Test("fail where no catalogue could grant them")
    func neverGranted() {
        func purchase(
            expiresAt: Timestamp? = nil, revokedAt: Timestamp? = nil, isUpgraded: Bool = false,
            ownership: Ownership = .purchased, token: String? = nil, environment: Environment = .production,
            type: ProductType? = nil
        ) -> Purchase {
            Fixture.purchase(
                product: "new", environment: environment, expiresAt: expiresAt, revokedAt: revokedAt,
                isUpgraded: isUpgraded, ownership: ownership, token: token, type: type)
        }
        let claim = Fixture.submission(token: "a")
        #expect(verdict([purchase(revokedAt: Fixture.now)]).reason == .transactionRevoked)
        #expect(verdict([purchase(expiresAt: later, isUpgraded: true)]).reason == .transactionRevoked)
        #expect(verdict([purchase(expiresAt: Fixture.now)]).reason == .subscriptionExpired)
        #expect(verdict([purchase(ownership: .familyShared)]).reason == .familySharedNotAllowed)
        #expect(verdict([purchase(token: "b")], claim).reason == .accountTokenMismatch)
        #expect(verdict([purchase(environment: .sandbox)]).reason == .environmentNotAllowed)
        #expect(verdict([purchase(expiresAt: Fixture.now, type: .nonRenewing)]).hold == .productNotConfigured)
        #expect(verdict([purchase(token: "b")]).hold == .productNotConfigured, "once listed it may wait for its token")
    }

    @Test("Each reason is one that purchases fail with, or one that they wait for, and has the same word there")
    func reasons() {
        let own = FailureReason.allCases.compactMap { reason in reason.ofOnePurchase.map { (reason, $0) } }
        let causes: [HoldCause] = [.productNotConfigured, .advancedCommerce, .partialRefund]
        #expect(own.allSatisfy { $0.rawValue == $1.rawValue })
        #expect(
            Set(PassedOver.Reason.allCases.map(\.rawValue))
                == Set(own.map(\.0.rawValue)).union(causes.map(\.rawValue)))
    }
}
