import Contract
import Testing

@testable import AppStore

@Suite("What a sender's own receipt speaks against")
struct AppReceiptContradictionTests {
    @Test("another app's receipt and one made by Xcode are refused without a call")
    func refused() throws {
        let foreign = try AppReceipt(der: ReceiptBuilder.receipt(bundleID: "com.example.other").der)
        let xcode = try AppReceipt(der: ReceiptBuilder.receipt(origin: "Xcode").ber)
        #expect(foreign.contradiction(with: Fixture.app())?.reason == .bundleMismatch)
        #expect(xcode.contradiction(with: Fixture.app())?.reason == .environmentNotAllowed)
    }

    @Test(
        "what a receipt says of production and sandbox decides nothing: Apple is asked",
        arguments: [
            "Production", "ProductionSandbox", "Moon",
        ])
    func asked(origin: String) throws {
        let receipt = try AppReceipt(der: ReceiptBuilder.receipt(origin: origin).der)
        #expect(receipt.contradiction(with: Fixture.app(sandbox: .reject)) == nil)
    }
}
