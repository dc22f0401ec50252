import Testing

@testable import AppStore

@Suite("verifyReceipt status")
struct VerifyReceiptStatusTests {
    @Test("has no code twice and keeps Apple's order")
    func order() {
        for (earlier, later) in zip(VerifyReceiptStatus.table, VerifyReceiptStatus.table.dropFirst()) {
            #expect(earlier.codes.upperBound < later.codes.lowerBound)
        }
    }

    @Test(
        "does not know what Apple has not documented", arguments: [-1, 1, 200, 20999, 21001, 21011, 21099, 21200, .max])
    func unknown(status: Int) {
        #expect(VerifyReceiptStatus.disposition(of: status) == .unknown)
    }
}
