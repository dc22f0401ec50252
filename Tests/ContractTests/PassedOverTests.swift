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
}
