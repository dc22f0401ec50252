import Foundation
import Testing

@testable import AppStoreSimulator

struct SignedReceiptTests {
    @Test("A receipt knows its own signature")
    func signature() throws {
        let factory = try ReceiptFactory(authority: SimulatorAuthority.shared.get())
        let receipt = try SignedReceipt(bytes: factory.receipt(.sample()))
        #expect(factory.signer.isOwn(receipt))
        let other = try ReceiptFactory(authority: SimulatorAuthority(now: .present))
        #expect(!other.signer.isOwn(receipt))
    }

    @Test(
        "Other bytes are no receipt",
        arguments: [[], [0x30, 0x00], [0x30, 0x80], Array("not a receipt".utf8)] as [[UInt8]])
    func noReceipt(bytes: [UInt8]) {
        #expect(throws: (any Error).self) { try SignedReceipt(bytes: bytes) }
    }
}
