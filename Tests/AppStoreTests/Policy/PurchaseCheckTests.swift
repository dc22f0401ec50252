import Contract
import Testing

@testable import AppStore

@Suite("Purchase check")
struct PurchaseCheckTests {
    private let later = Fixture.now.advanced(by: Fixture.day)

    private func finding(
        _ purchase: Purchase, app: App = Fixture.app(), _ submission: Submission = Fixture.submission()
    ) -> PurchaseCheck.Finding {
        PurchaseCheck(app: app, submission: submission, attestsTokens: true).finding(on: purchase)
    }

    private func reason(
        _ purchase: Purchase, app: App = Fixture.app(), _ submission: Submission = Fixture.submission()
    ) -> FailureReason? {
        guard case .fails(let rejection) = finding(purchase, app: app, submission) else { return nil }
        return rejection.reason
    }

    private func granted(_ purchase: Purchase, app: App = Fixture.app()) -> GrantablePurchase? {
        guard case .passes(let granted) = finding(purchase, app: app) else { return nil }
        return granted
    }

    @Test("gives the catalogue's items times the attested quantity")
    func items() {
        #expect(granted(Fixture.purchase(quantity: 3))?.items == [Item(item: "gems", quantity: 300)])
        #expect(granted(Fixture.purchase(quantity: 3))?.type == .consumable)
    }

    @Test("without a catalogue gives the product under its own id, of the type that the attestation suggests")
    func withoutCatalogue() {
        let app = Fixture.app(products: .any)
        let one = granted(Fixture.purchase(product: "anything"), app: app)
        #expect(one?.type == .nonConsumable)
        #expect(one?.items == [Item(item: "anything", quantity: 1)])
        #expect(granted(Fixture.purchase(quantity: 2), app: app)?.type == .consumable)
        #expect(granted(Fixture.purchase(quantity: 2), app: app)?.items == [Item(item: "gems", quantity: 2)])
        #expect(granted(Fixture.purchase(expiresAt: later), app: app)?.type == .autoRenewable)
        guard case .waits(.unknownAnswer, _) = finding(Fixture.purchase(quantity: 0), app: app) else {
            Issue.record("not held")
            return
        }
    }

    @Test("an app with a catalogue grants nothing outside it, even when it is empty")
    func catalogue() {
        #expect(finding(Fixture.purchase(product: "GEMS")) == .unlisted)
        #expect(finding(Fixture.purchase(), app: Fixture.app(products: .catalogue([:]))) == .unlisted)
    }

    @Test("what waits has the names of a grant that is older than the mistake it waits for")
    func names() {
        func key(_ purchase: Purchase) -> String {
            PurchaseCheck(app: Fixture.app(), submission: Fixture.submission(), attestsTokens: true)
                .names(of: purchase).key.name
        }
        let bought = Fixture.now.milliseconds
        #expect(key(Fixture.purchase("2", product: "gems")) == "t:2", "the catalogue's kind")
        #expect(key(Fixture.purchase("2", original: "1", product: "level")) == "t:1", "the catalogue's kind")
        #expect(key(Fixture.purchase("2", original: "1", product: "gems")) == "t:1", "it cannot be a consumable")
        #expect(key(Fixture.purchase("2", original: "1", product: "gems", type: .nonConsumable)) == "t:1", "Apple's")
        #expect(key(Fixture.purchase("2", original: "1", product: "gems", expiresAt: later)) == "p:1:\(bought)")
        #expect(key(Fixture.purchase("2", original: "1", product: "vip", expiresAt: later)) == "p:1:\(bought)")
        #expect(key(Fixture.purchase("2", original: "1", product: "vip")) == "t:1", "it cannot be a subscription")
    }

    @Test("a restore waits where the catalogue calls it a consumable: else each restore would be granted")
    func restoredConsumable() {
        let restored = Fixture.purchase("2", original: "1", product: "gems")
        guard case .waits(.productContradicted, let detail) = finding(restored) else {
            Issue.record("did not wait")
            return
        }
        #expect(detail == "The catalogue has gems as consumable; Apple attests a restored one.")
        let attested = Fixture.purchase("2", original: "1", product: "gems", type: .consumable)
        guard case .passes = finding(attested) else {
            Issue.record("Apple's own word on the type counts")
            return
        }
    }

    @Test("sandbox purchases go by the app's policy")
    func environment() {
        let purchase = Fixture.purchase(environment: .sandbox)
        #expect(reason(purchase) == nil)
        #expect(reason(purchase, app: Fixture.app(sandbox: .reject)) == .environmentNotAllowed)
        #expect(reason(purchase, app: Fixture.app(sandbox: .users(["player-2"]))) == .environmentNotAllowed)
        #expect(reason(purchase, app: Fixture.app(sandbox: .users(["player-1"]))) == nil)
        #expect(reason(Fixture.purchase(), app: Fixture.app(sandbox: .reject)) == nil)
    }

    @Test("the claimed product must be the attested one")
    func product() {
        #expect(reason(Fixture.purchase(), Fixture.submission(productID: "vip")) == .productMismatch)
        #expect(reason(Fixture.purchase(), Fixture.submission(productID: "gems")) == nil)
    }

    @Test(
        "only what StoreKit sells in units may be more than one, and nothing none or more than ten: it waits for a person",
        arguments: [(ProductID("gems"), 10), ("pass", 10), ("level", 1), ("vip", 1)])
    func quantity(product: ProductID, most: Int) {
        for units in [Int.min, -5, 0, 1, 2, 10, 11, .max] {
            let expiresAt = product == "vip" ? later : nil
            switch finding(Fixture.purchase(product: product, quantity: units, expiresAt: expiresAt)) {
            case .passes: #expect((1...most).contains(units))
            case .waits(let cause, _):
                #expect(!(1...most).contains(units))
                #expect(cause == ((1...10).contains(units) ? .productContradicted : .unknownAnswer))
            case .fails, .unlisted, .tokenUnknown: Issue.record("\(product) \(units)")
            }
        }
    }

    @Test("a refunded, revoked or upgraded purchase is not granted, expired or not")
    func revocation() {
        #expect(reason(Fixture.purchase(revokedAt: Fixture.now)) == .transactionRevoked)
        #expect(reason(Fixture.purchase(product: "vip", expiresAt: later, isUpgraded: true)) == .transactionRevoked)
        #expect(
            reason(Fixture.purchase(product: "vip", expiresAt: Fixture.now, revokedAt: Fixture.now))
                == .transactionRevoked)
    }

    @Test("family sharing is the app's choice; a consumable that is shared contradicts the catalogue")
    func ownership() {
        let sharing = Fixture.app(acceptsFamilySharing: true)
        let level = Fixture.purchase(product: "level", ownership: .familyShared)
        #expect(reason(level) == .familySharedNotAllowed)
        #expect(reason(level, app: sharing) == nil)
        #expect(reason(Fixture.purchase(ownership: .familyShared)) == .familySharedNotAllowed)
        guard case .waits(.productContradicted, _) = finding(Fixture.purchase(ownership: .familyShared), app: sharing)
        else {
            Issue.record("not held")
            return
        }
    }

    @Test("a period counts if it was not over when the submission arrived")
    func expiry() {
        func vip(_ expiry: Duration) -> Purchase {
            Fixture.purchase(product: "vip", expiresAt: Fixture.now.advanced(by: expiry))
        }
        #expect(reason(vip(.milliseconds(1))) == nil)
        #expect(reason(vip(.zero)) == .subscriptionExpired)
        #expect(reason(vip(.seconds(-1))) == .subscriptionExpired)
    }

    @Test("a catalogue that contradicts Apple waits for a person: the type decides the grant key")
    func contradiction() {
        guard case .waits(.productContradicted, _) = finding(Fixture.purchase(expiresAt: later)) else {
            Issue.record("a consumable with an end was not held")
            return
        }
        guard case .waits(.productContradicted, _) = finding(Fixture.purchase(product: "vip")) else {
            Issue.record("a subscription without an end was not held")
            return
        }
    }

    @Test("an attested type is the type, and must be the catalogue's")
    func attestedType() {
        let app = Fixture.app(products: .any)
        for type in ProductType.allCases {
            let purchase = Fixture.purchase(expiresAt: type == .autoRenewable ? later : nil, type: type)
            #expect(granted(purchase, app: app)?.type == type)
            if type == .consumable {
                #expect(granted(purchase)?.type == .consumable)
            } else if case .waits(.productContradicted, _) = finding(purchase) {
                continue
            } else {
                Issue.record("the catalogue's consumable was attested as \(type) and not held")
            }
        }
        #expect(granted(Fixture.purchase(product: "pass", expiresAt: later, type: .nonRenewing))?.type == .nonRenewing)
    }

    @Test("whose purchase it is counts before how much of it and whether it stands")
    func order() {
        let claim = Fixture.submission(token: "aaaa")
        #expect(
            reason(Fixture.purchase(quantity: 0, revokedAt: Fixture.now, token: "cccc"), claim)
                == .accountTokenMismatch)
        #expect(
            reason(Fixture.purchase(quantity: 0, ownership: .familyShared, token: "cccc"), claim)
                == .familySharedNotAllowed)
        #expect(reason(Fixture.purchase(quantity: 0, revokedAt: Fixture.now)) == .transactionRevoked)
    }

    @Test("what no catalogue could grant fails, also where the catalogue has a wrong type for it")
    func contradictedAndOver() {
        let endless = Fixture.purchase(product: "vip", revokedAt: Fixture.now)
        #expect(reason(endless) == .transactionRevoked)
        #expect(
            reason(Fixture.purchase(product: "vip", ownership: .familyShared)) == .familySharedNotAllowed)
        let claim = Fixture.submission(token: "a")
        #expect(reason(Fixture.purchase(product: "vip", token: "b"), claim) == .accountTokenMismatch)
        guard case .waits(.productContradicted, _) = finding(Fixture.purchase(product: "vip")) else {
            Issue.record("what stands is not held")
            return
        }
    }

    @Test("several seats of what Apple attests as a subscription contradict no catalogue")
    func seats() {
        let seats = Fixture.purchase(product: "vip", quantity: 3, expiresAt: later, type: .autoRenewable)
        guard case .waits(.unknownAnswer, _) = finding(seats) else {
            Issue.record("not held for a person")
            return
        }
    }

    @Test("items that cannot be counted are our fault, not the player's")
    func overflow() {
        let row = Product(id: "gems", type: .consumable, items: [Item(item: "gems", quantity: .max / 2)])
        guard
            case .waits(.productContradicted, _) = finding(
                Fixture.purchase(quantity: 3), app: Fixture.app(products: .catalogue(["gems": row])))
        else {
            Issue.record("not held")
            return
        }
    }
}
