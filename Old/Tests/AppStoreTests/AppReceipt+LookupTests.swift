import Purchases
import Testing

@testable import AppStore

@Suite("Lookups by receipt")
struct AppReceiptLookupTests {
    private func receipt(_ entries: (id: String, product: String)...) throws -> AppReceipt {
        let purchases = entries.map { ReceiptBuilder.purchase(transactionID: $0.id, productID: $0.product) }
        return try AppReceipt(der: ReceiptBuilder.receipt(purchases: purchases).der)
    }

    @Test("the claimed transaction is asked for if the receipt holds it")
    func claimed() throws {
        let receipt = try receipt(("1", "gems"), ("2", "level"))
        #expect(receipt.lookup(for: Fixture.submission(transactionID: "2", productID: "gems")) == .transaction("2"))
    }

    @Test("else the customer's history, by an id that the receipt proves, of the claimed product if there is one")
    func history() throws {
        let receipt = try receipt(("1", "gems"), ("2", "level"))
        // All that it names: the builder's purchases go back to one original transaction.
        let bought: Set<TransactionID> = ["1", "2", "1000000000000000"]
        let first = TransactionLookup.Question.history(of: ProvenCustomer("1", of: "gems", bought: bought))
        let second = TransactionLookup.Question.history(of: ProvenCustomer("2", of: "level", bought: bought))
        #expect(receipt.lookup(for: Fixture.submission(transactionID: "7")) == first)
        #expect(receipt.lookup(for: Fixture.submission(productID: "level")) == second)
        #expect(receipt.lookup(for: Fixture.submission(productID: "pass")) == first)
        #expect(receipt.lookup(for: Fixture.submission()) == first)
    }

    @Test("what is no id of Apple's is not asked for, whoever claims it")
    func paths() throws {
        let receipt = try receipt(("../../x?y=1", "gems"), ("123456789012345678901", "gems"))
        #expect(receipt.lookup(for: Fixture.submission()) == nil)
        #expect(receipt.lookup(for: Fixture.submission(transactionID: "../../x?y=1")) == nil)
        #expect(try self.receipt().lookup(for: Fixture.submission(transactionID: "1")) == nil)
    }
}
