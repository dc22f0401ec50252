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

    private let gems = ServerAPIScript.transaction("1")
    private let unreadable = ServerAPIScript.transaction("2", ["revocationDate": "\"soon\""])
    private let refunded = ServerAPIScript.transaction("3", ["revocationDate": SignedToken.moment(-1)])

    @Test("grants what is claimed of it")
    func granted() throws {
        #expect(try verdict([gems]).granted == ["1"])
        #expect(try verdict([gems, refunded]).granted == ["1"])
        #expect(try verdict([]).doubt?.becomes == .transactionNotFound)
    }

    @Test("the latest word counts, and of two at one moment the one that grants less")
    func latest() throws {
        let refund = ServerAPIScript.transaction("1", ["revocationDate": SignedToken.moment(-1)])
        #expect(try verdict([gems, refund]).reason == .transactionRevoked)
        #expect(try verdict([refund, gems]).reason == .transactionRevoked)
        let part = ServerAPIScript.transaction(
            "1", ["revocationDate": SignedToken.moment(-1), "revocationPercentage": "40000"])
        #expect(try verdict([part, gems]).hold == .partialRefund)
        #expect(try verdict([gems, part]).hold == .partialRefund)
        #expect(try verdict([refund, part]).reason == .transactionRevoked)
        let reversed = ServerAPIScript.transaction("1", ["signedDate": SignedToken.moment(1)])
        #expect(try verdict([reversed, refund]).granted == ["1"], "a refund that was reversed is gone later")
        let earlier = ServerAPIScript.transaction("1", ["signedDate": SignedToken.moment(-1)])
        #expect(try verdict([refund, earlier]).reason == .transactionRevoked)
    }

    @Test("what cannot be granted as it is fails where it is another's, and is held or passed over as what it is else")
    func ungrantable() throws {
        let own = "11111111-2222-3333-4444-555555555555"
        let bound = [
            "appAccountToken": "\"\(own)\"", "revocationDate": SignedToken.moment(-1), "revocationPercentage": "40000",
        ]
        let part = ServerAPIScript.transaction("2", bound)
        func verdict(token: String?, _ others: [String: String?]...) throws -> Verdict {
            try self.verdict([part] + others, Fixture.submission(token: token))
        }
        #expect(try verdict(token: own).hold == .partialRefund)
        #expect(try verdict(token: nil).hold == .partialRefund)
        #expect(try verdict(token: nil, gems).granted == ["1"])
        #expect(try verdict(token: "99999999-2222-3333-4444-555555555555").reason == .accountTokenMismatch)
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

    @Test("lacks a purchase that none of its pages has, unless that is a restored purchase's other id")
    func lacking() throws {
        let other = ProvenPurchase("9", original: "1", of: nil)
        #expect(try !history([gems]).lacksAny(of: [ProvenPurchase("1", of: nil)]))
        #expect(try history([gems]).lacksAny(of: [ProvenPurchase("1", of: nil), ProvenPurchase("2", of: nil)]))
        #expect(try history([gems]).lacksAny(of: [other]), "a renewal has the original of its first period, too")
        let restored = ServerAPIScript.transaction("1", ["type": "\"Non-Consumable\""])
        #expect(try !history([restored]).lacksAny(of: [other]))
        let period = ServerAPIScript.transaction(
            "1", ["type": "\"Auto-Renewable Subscription\"", "webOrderLineItemId": "\"70\""])
        #expect(
            try !history([period]).lacksAny(of: [ProvenPurchase("9", original: "1", webOrderLineItemID: "70", of: nil)])
        )
        #expect(
            try history([period]).lacksAny(of: [ProvenPurchase("9", original: "1", webOrderLineItemID: "71", of: nil)]))
    }

    @Test("a transaction without a bundle id is the app's whose key asked")
    func nobodys() throws {
        #expect(try verdict([ServerAPIScript.transaction("1", ["bundleId": nil])]).granted == ["1"])
    }

    @Test(
        "what is refunded in part, or has SKUs, holds where nothing else can be granted, and is passed over beside it")
    func understood() throws {
        let part = ServerAPIScript.transaction(
            "4", ["productId": "\"level\"", "revocationDate": SignedToken.moment(-1), "revocationPercentage": "40000"])
        let skus = ServerAPIScript.transaction("5", ["productId": "\"generic\"", "advancedCommerceInfo": "{}"])
        for (transaction, cause) in [(part, HoldCause.partialRefund), (skus, .advancedCommerce)] {
            #expect(try verdict([transaction]).hold == cause)
            #expect(try verdict([transaction, refunded]).hold == cause)
            let both = try verdict([transaction, gems])
            #expect(both.granted == ["1"])
            let names = try verdict([transaction]).purchases
            #expect(names.map(\.key.name) == ["t:\(names.first?.transactionID ?? "")"])
            #expect(try verdict([transaction, gems, unreadable]).hold == .incompleteAnswer)
            guard case .verified(let purchases, _) = both else {
                Issue.record("not verified")
                return
            }
            #expect(purchases.passedOver?.named.map(\.reason.rawValue) == [cause.rawValue])
            #expect(purchases.passedOver?.holding.map(\.purchase) == names)
        }
        #expect(try verdict([part, gems], Fixture.submission(transactionID: "4")).hold == .partialRefund)
        #expect(try verdict([part], Fixture.submission(productID: "level")).hold == .partialRefund)
        #expect(try verdict([part], Fixture.submission(productID: "gems")).doubt?.cause == .notFoundYet)
        // The claim may name an SKU.
        let sku = try verdict([skus], Fixture.submission(productID: "skin-41"))
        #expect(sku.hold == .advancedCommerce && sku.purchases == [], "and another purchase than the claimed one")
        #expect(try verdict([skus, refunded], Fixture.submission(productID: "gems")).reason == .transactionRevoked)
    }
}

@Suite("Attestation of answers")
struct ReplyAttestationTests {
    private func attestation(_ environment: Environment = .production) throws -> ReplyAttestation {
        ReplyAttestation(
            verifier: SignedTransactionVerifier(roots: try SignedToken.chain.roots()), environment: environment,
            now: Fixture.now)
    }

    private func distrust(_ body: () throws -> Void) -> Verdict? {
        do {
            try body()
            return nil
        } catch {
            return (error as? ReplyAttestation.Distrust)?.verdict
        }
    }

    @Test("takes what Apple signed for the environment that was asked, and nothing else")
    func environment() throws {
        for environment in Environment.allCases {
            let attestation = try attestation(environment)
            for name in ["Production", "Sandbox", "Moon", "Xcode"] {
                let text = try SignedToken(["environment": "\"\(name)\""]).text()
                let verdict = distrust {
                    _ = try attestation.transaction(EvidenceText(text), as: ServerAPIScript.id, app: "com.example.game")
                }
                #expect((verdict == nil) == (name == environment.nameInAnswers))
                #expect(verdict?.hold == (verdict == nil ? nil : .unknownAnswer))
            }
        }
    }

    @Test("a signature of anybody else is no reason to fail the player")
    func foreign() throws {
        let text = try SignedToken(chain: ChainBuilder()).text()
        let verdict = distrust {
            _ = try attestation().transaction(EvidenceText(text), as: ServerAPIScript.id, app: "com.example.game")
        }
        #expect(verdict?.hold == .unknownAnswer)
    }

    @Test("takes the transaction that was asked for, whatever zeros the question had")
    func asked() throws {
        let attestation = try attestation()
        let text = try SignedToken([:]).text()
        for (asked, isTaken) in [
            ("2000000000000001", true), ("0002000000000001", false), ("02000000000000001", true),
            ("2000000000000002", false), ("0", false),
        ] {
            let verdict = distrust {
                _ = try attestation.transaction(
                    EvidenceText(text), as: TransactionID(reading: asked), app: "com.example.game")
            }
            #expect((verdict == nil) == isTaken, "\(asked)")
        }
    }
}
