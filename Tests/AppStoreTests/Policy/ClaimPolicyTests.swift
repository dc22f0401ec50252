import Contract
import Testing

@testable import AppStore

@Suite("Claim policy")
struct ClaimPolicyTests {
    private func verdict(
        _ purchases: [Purchase], app: App = Fixture.app(), _ submission: Submission = Fixture.submission()
    ) -> Verdict {
        ClaimPolicy(app: app, submission: submission).verdict(on: purchases, by: .verifyReceipt)
    }

    private let history = [
        Fixture.purchase("3", product: "level", purchasedAt: Fixture.now.advanced(by: .seconds(-10))),
        Fixture.purchase("10", purchasedAt: Fixture.now.advanced(by: .seconds(-20))),
        Fixture.purchase("9", purchasedAt: Fixture.now.advanced(by: .seconds(-20))),
    ]

    @Test("a transaction id means that one, never a relative")
    func transaction() {
        #expect(verdict(history, Fixture.submission(transactionID: "9")).granted == ["9"])
        let restored = [Fixture.purchase("21", original: "20", product: "level")]
        #expect(verdict(restored, Fixture.submission(transactionID: "21")).granted == ["21"])
    }

    @Test("the id of an original means what has the same grant key, unless it is there itself")
    func original() {
        func granted(_ purchases: Purchase...) -> [TransactionID] {
            verdict(purchases, Fixture.submission(transactionID: "20")).granted
        }
        let level = Fixture.purchase("21", original: "20", product: "level")
        let pass = Fixture.purchase("22", original: "20", product: "pass")
        #expect(granted(level) == ["21"])
        #expect(granted(pass) == ["22"])
        #expect(granted(level, Fixture.purchase("20", product: "level")) == ["20"])
        #expect(granted(Fixture.purchase("21", original: "20", product: "level", type: .nonConsumable)) == ["21"])
        #expect(granted(Fixture.purchase("24", original: "20")).isEmpty, "a consumable is a purchase of its own")
        let new = Fixture.purchase("25", original: "20", product: "unheard")
        #expect(verdict([new], Fixture.submission(transactionID: "20")).hold == .productNotConfigured)
    }

    @Test("the id of a subscription's first period means the one that runs, once the first does not stand any more")
    func subscription() {
        func period(
            _ id: TransactionID, until days: Double, product: ProductID = "vip", revokedAt: Timestamp? = nil,
            isUpgraded: Bool = false, token: String? = nil
        ) -> Purchase {
            Fixture.purchase(
                id, original: "20", product: product,
                purchasedAt: Fixture.now.advanced(by: Fixture.day * (days - 30)),
                expiresAt: Fixture.now.advanced(by: Fixture.day * days), revokedAt: revokedAt, isUpgraded: isUpgraded,
                token: token)
        }
        func verdict(
            _ purchases: Purchase..., id: TransactionID = "20", product: ProductID? = nil, order: OrderID? = nil
        ) -> Verdict {
            self.verdict(purchases, Fixture.submission(transactionID: id, productID: product, orderID: order))
        }
        let first = period("20", until: -40)
        let (over, runs, next) = (period("21", until: -10), period("22", until: 20), period("23", until: 50))
        #expect(verdict(next, runs, over, first).granted == ["22"], "Apple charges the next one early")
        #expect(verdict(runs).granted == ["22"], "the first one is not there")
        #expect(verdict(first, runs, product: "vip").granted == ["22"])
        #expect(verdict(period("20", until: -40, revokedAt: Fixture.now), runs).granted == ["22"])
        #expect(verdict(period("20", until: 5, isUpgraded: true), runs).granted == ["22"])
        // Nothing else than the exact one is meant.
        #expect(verdict(period("20", until: 5), runs).granted == ["20"])
        #expect(verdict(first, over).reason == .subscriptionExpired)
        #expect(verdict(over, runs, id: "21").reason == .subscriptionExpired)
        #expect(verdict(first, period("22", until: 20, product: "gold"), product: "vip").reason == .subscriptionExpired)
        #expect(verdict(first, Fixture.purchase("31")).reason == .subscriptionExpired)
        #expect(verdict(first, period("22", until: 40)).reason == .subscriptionExpired, "it has not begun")
        #expect(verdict(first, runs, order: "order-1").reason == .subscriptionExpired, "the first one paid the order")
        #expect(verdict(runs, order: "order-1").granted == ["22"])
        // It is judged as if its own id were claimed.
        #expect(verdict(first, period("22", until: 20, product: "gold")).hold == .productNotConfigured)
        #expect(verdict(first, period("22", until: 20, token: "a")).hold == .accountTokenMissing)
        #expect(verdict(first, period("22", until: 20, revokedAt: Fixture.now)).reason == .subscriptionExpired)
    }

    @Test("a product id means every purchase of it; nothing means everything, oldest first, by number")
    func selection() {
        #expect(verdict(history, Fixture.submission(productID: "gems")).granted == ["9", "10"])
        #expect(verdict(history).granted == ["9", "10", "3"])
        #expect(verdict(history.reversed()) == verdict(history))
    }

    @Test("an id in no evidence means what is owned of the claimed product, once Apple could not be waited for longer")
    func deviceID() {
        let end = Fixture.now.advanced(by: Fixture.day)
        let purchases = [
            Fixture.purchase("20", product: "level"), Fixture.purchase("21", product: "vip", expiresAt: end),
            Fixture.purchase("22"), Fixture.purchase("23", product: "pass"),
        ]
        func granted(_ product: ProductID?, by verifiedBy: VerifiedBy = .verifyReceipt) -> [TransactionID] {
            let submission = Fixture.submission(transactionID: "7", productID: product)
            return ClaimPolicy(app: Fixture.app(), submission: submission).verdict(on: purchases, by: verifiedBy)
                .grantedInTheEnd
        }
        #expect(granted("level") == ["20"] && granted("level", by: .local) == ["20"])
        #expect(granted("vip") == ["21"])
        #expect(granted("vip", by: .local).isEmpty, "the receipt may be older than a renewal")
        #expect(granted("gems").isEmpty && granted("pass").isEmpty, "it may be bought again")
        #expect(granted(nil).isEmpty)
        // Without a catalogue only Apple's type, or another original, shows that it is no consumable.
        let any = ClaimPolicy(
            app: Fixture.app(products: .any), submission: Fixture.submission(transactionID: "7", productID: "level"))
        for verifiedBy in [VerifiedBy.local, .verifyReceipt] {
            let verdict = any.verdict(on: purchases, by: verifiedBy)
            #expect(verdict.doubt?.becomes == .transactionNotFound, "it may be bought again")
            for known in [
                Fixture.purchase("20", product: "level", type: .nonConsumable),
                Fixture.purchase("20", original: "19", product: "level"),
            ] {
                #expect(any.verdict(on: [known], by: verifiedBy).grantedInTheEnd == ["20"])
            }
        }
        let refunded = Fixture.purchase("20", product: "level", revokedAt: Fixture.now)
        let submission = Fixture.submission(transactionID: "7", productID: "level")
        #expect(verdict([refunded], submission).doubt?.becomes == .transactionNotFound)
    }

    @Test("those that pass are granted and the others passed over")
    func several() {
        let purchases =
            history + [Fixture.purchase("11", revokedAt: Fixture.now), Fixture.purchase("12", product: "unheard")]
        #expect(verdict(purchases).granted == ["9", "10", "3"])
    }

    @Test("if none passes, the newest one's rejection stands")
    func newest() {
        let old = Fixture.purchase("1", environment: .sandbox, purchasedAt: Fixture.now.advanced(by: .seconds(-9)))
        let new = Fixture.purchase("2", revokedAt: Fixture.now)
        guard case .rejected(let rejection) = verdict([new, old], app: Fixture.app(sandbox: .reject)) else {
            Issue.record("not rejected")
            return
        }
        #expect(rejection.reason == .transactionRevoked)
        #expect(rejection.transactionID == "2")
        #expect(rejection.productID == "gems")
    }

    @Test("a catalogue at fault holds all that is claimed, so that no purchase is left out of the answer")
    func catalogueAtFault() {
        let contradicted = Fixture.purchase("1", expiresAt: Fixture.now.advanced(by: Fixture.day))
        let purchases = [contradicted, Fixture.purchase("2", revokedAt: Fixture.now)]
        #expect(verdict(purchases).hold == .productContradicted)
        #expect(verdict(history + [contradicted]).hold == .productContradicted)
        #expect(verdict(history + [contradicted], Fixture.submission(transactionID: "9")).granted == ["9"])
    }

    @Test("a purchase in an unknown form holds all that is claimed with it, and nothing else")
    func unknownForm() {
        func verdict(_ submission: Submission) -> Verdict {
            var unreadable = UnreadablePurchases()
            unreadable.append(transactionID: "77", productID: "gift")
            return ClaimPolicy(app: Fixture.app(), submission: submission)
                .verdict(on: history, beside: unreadable, by: .verifyReceipt)
        }
        #expect(verdict(Fixture.submission()).hold == .incompleteAnswer)
        #expect(verdict(Fixture.submission(transactionID: "77")).hold == .incompleteAnswer)
        #expect(verdict(Fixture.submission(productID: "gift")).hold == .incompleteAnswer)
        #expect(verdict(Fixture.submission(transactionID: "9")).granted == ["9"])
        #expect(verdict(Fixture.submission(productID: "gems")).granted == ["9", "10"])
    }

    @Test(
        "a purchase that is not there yet is a doubt, which says what it becomes",
        arguments: [
            (Fixture.submission(), "Apple attests no purchases."),
            (Fixture.submission(productID: "vip"), "Apple attests no purchase of this product."),
            (Fixture.submission(transactionID: "7"), "Apple attests no such transaction."),
        ])
    func notThere(submission: Submission, detail: String) {
        guard case .doubt(.notFoundYet, .rejected(let rejection)) = verdict([], submission) else {
            Issue.record("no doubt")
            return
        }
        #expect(rejection.reason == .transactionNotFound && rejection.detail == detail)
        #expect(rejection.transactionID == submission.claim.transactionID)
    }
}

@Suite("Unreadable purchases")
struct UnreadablePurchasesTests {
    private func unreadable(_ names: (TransactionID?, ProductID?)...) -> UnreadablePurchases {
        names.reduce(into: UnreadablePurchases()) { $0.append(transactionID: $1.0, productID: $1.1) }
    }

    @Test("the least understood one that may be meant is told")
    func reasons() {
        var unreadable = UnreadablePurchases()
        unreadable.append(transactionID: "7", productID: "gems", as: .advancedCommerce)
        let all = Fixture.submission()
        #expect(unreadable.claimed(by: all, beside: []) == .advancedCommerce)
        unreadable.append(transactionID: "8", productID: "gems", as: .missing("type"))
        #expect(unreadable.claimed(by: all, beside: []) == .missing("type"))
        #expect(unreadable.claimed(by: Fixture.submission(transactionID: "7"), beside: []) == .advancedCommerce)
    }

    @Test("the id of an original may mean what was restored from it and cannot be read")
    func original() {
        var unreadable = UnreadablePurchases()
        unreadable.append(transactionID: "8", original: "7", productID: "level")
        let claim = Fixture.submission(transactionID: "7")
        #expect(unreadable.claimed(by: claim, beside: []) == .incomplete)
        #expect(unreadable.claimed(by: claim, beside: [Fixture.purchase("7")]) == nil)
        #expect(unreadable.claimed(by: Fixture.submission(transactionID: "6"), beside: []) == nil)
    }

    @Test("where nothing is claimed, any may be meant")
    func everything() {
        #expect(unreadable(("7", "gems")).claimed(by: Fixture.submission(), beside: []) == .incomplete)
        #expect(unreadable().claimed(by: Fixture.submission(), beside: []) == nil)
    }

    @Test("a claimed transaction is one of that id, or of none that can be read unless it could be read")
    func transactions() {
        let claim = Fixture.submission(transactionID: "7", productID: "gems")
        #expect(unreadable(("7", "level")).claimed(by: claim, beside: []) == .incomplete)
        #expect(unreadable((nil, "level")).claimed(by: claim, beside: [Fixture.purchase("8")]) == .incomplete)
        #expect(unreadable(("8", "gems")).claimed(by: claim, beside: []) == nil)
        #expect(unreadable((nil, nil)).claimed(by: claim, beside: [Fixture.purchase("7")]) == nil)
        // Twice in one reply: one of the two may be the refund.
        #expect(unreadable(("7", nil)).claimed(by: claim, beside: [Fixture.purchase("7")]) == .incomplete)
    }

    @Test("a claimed product is that product or none that can be read")
    func products() {
        let claim = Fixture.submission(productID: "gems")
        #expect(unreadable(("7", "gems")).claimed(by: claim, beside: []) == .incomplete)
        #expect(unreadable(("7", nil)).claimed(by: claim, beside: [Fixture.purchase("8")]) == .incomplete)
        #expect(unreadable(("7", "level"), (nil, "pass")).claimed(by: claim, beside: []) == nil)
    }
}
