import Contract
import Testing

@Suite("What is passed over")
struct PassedOverTests {
    private func entry(_ id: Int, _ reason: PassedOver.Reason, _ product: ProductID = "p") -> PassedOver.Entry {
        PassedOver.Entry(TransactionID("\(id)"), product, reason)
    }

    @Test("names a few, by reason and the newest first, and counts all")
    func bounds() throws {
        let expired = (0..<20).map { entry($0, .subscriptionExpired) }
        let others = [entry(30, .productNotConfigured), entry(40, .transactionRevoked)]
        let passedOver = try #require(PassedOver(expired + others))
        #expect(passedOver.named.map(\.transactionID) == ["30", "40", "19", "18", "17", "16", "15", "14"])
        #expect(passedOver.counts == [.productNotConfigured: 1, .transactionRevoked: 1, .subscriptionExpired: 20])
        #expect(PassedOver([]) == nil)
    }

    @Test("says which products the apps file lacks, in the same words for the same products")
    func sentence() {
        func words(_ products: ProductID...) -> String? {
            PassedOver(products.enumerated().map { entry($0, .productNotConfigured, $1) })?.unlistedProducts
        }
        #expect(words("b") == "Apple attests what the apps file does not list: b.")
        #expect(words("b", "a", "b") == "Apple attests what the apps file does not list: a and b.")
        #expect(words("a", "b", "c") == "Apple attests what the apps file does not list: a, b and c.")
        #expect(words("e", "d", "c", "b", "a") == "Apple attests what the apps file does not list: a, b, c and others.")
        #expect(PassedOver([entry(1, .unknownProduct)])?.unlistedProducts == nil)
    }

    private func name(_ id: TransactionID) -> NamedPurchase {
        NamedPurchase(id, of: "p", GrantKey(environment: .production, name: "t:\(id)"))
    }

    @Test("holds for what is paid and was never granted, first for what a catalogue can mend")
    func hold() throws {
        let entries = [
            entry(1, .partialRefund, "c"), entry(2, .advancedCommerce, "b"), entry(3, .productNotConfigured, "a"),
            entry(4, .accountTokenMissing), entry(5, .transactionRevoked),
        ]
        let holding = [(PassedOver.Reason.partialRefund, "1"), (.advancedCommerce, "2"), (.productNotConfigured, "3")]
        let passedOver = try #require(
            PassedOver(entries, holding: holding.map { PassedOver.Holding($0, name(TransactionID($1))) }))
        func hold(granted: TransactionID...) -> [String?] {
            let hold = passedOver.hold { granted.contains($0.transactionID) }
            return [hold?.cause.rawValue, hold?.detail]
        }
        #expect(hold() == ["product_not_configured", "Apple attests what the apps file does not list: a."])
        #expect(hold(granted: "3") == ["advanced_commerce", "SKUs of the Advanced Commerce API were bought: b."])
        #expect(
            hold(granted: "3", "2") == ["partial_refund", "Apple refunded a part of what was never granted: c."])
        #expect(hold(granted: "1", "2", "3") == [nil, nil])
        #expect(
            passedOver.counts { $0.transactionID != "2" }
                == [.advancedCommerce: 1, .accountTokenMissing: 1, .transactionRevoked: 1])
    }

    @Test("holds for a purchase without names, and for one of more than can be kept")
    func nameless() throws {
        let nameless = try #require(PassedOver([entry(1, .partialRefund)]))
        #expect(nameless.hold(isGranted: { _ in true })?.cause == .partialRefund)
        let ids = 0...NamedPurchase.most
        let many = try #require(
            PassedOver(
                ids.map { entry($0, .productNotConfigured) },
                holding: ids.map { PassedOver.Holding(.productNotConfigured, name(TransactionID("\($0)"))) }))
        #expect(many.hold(isGranted: { _ in true })?.cause == .productNotConfigured)
    }
}
