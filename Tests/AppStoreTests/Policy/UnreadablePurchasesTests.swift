import Contract
import Testing

@testable import AppStore

@Suite("Unreadable purchases")
struct UnreadablePurchasesTests {
    private func unreadable(_ names: (TransactionID?, ProductID?)...) -> UnreadablePurchases {
        names.reduce(into: UnreadablePurchases()) { $0.append(transactionID: $1.0, productID: $1.1) }
    }

    @Test("where nothing is claimed, any may be meant")
    func everything() {
        #expect(unreadable(("7", "gems")).mayBeClaimed(by: Fixture.submission(), beside: []))
        #expect(!unreadable().mayBeClaimed(by: Fixture.submission(), beside: []))
    }

    @Test("a claimed transaction is one of that id or of none that can be read, unless it could be read")
    func transactions() {
        let claim = Fixture.submission(transactionID: "7", productID: "gems")
        #expect(unreadable(("7", "level")).mayBeClaimed(by: claim, beside: []))
        #expect(unreadable((nil, "level")).mayBeClaimed(by: claim, beside: [Fixture.purchase("8")]))
        #expect(!unreadable(("8", "gems")).mayBeClaimed(by: claim, beside: []))
        #expect(!unreadable((nil, nil)).mayBeClaimed(by: claim, beside: [Fixture.purchase("7")]))
    }

    @Test("a claimed product is that product or none that can be read")
    func products() {
        let claim = Fixture.submission(productID: "gems")
        #expect(unreadable(("7", "gems")).mayBeClaimed(by: claim, beside: []))
        #expect(unreadable(("7", nil)).mayBeClaimed(by: claim, beside: [Fixture.purchase("8")]))
        #expect(!unreadable(("7", "level"), (nil, "pass")).mayBeClaimed(by: claim, beside: []))
    }
}
