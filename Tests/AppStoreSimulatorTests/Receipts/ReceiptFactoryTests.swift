import Contract
import Foundation
import Testing

@testable import AppStoreSimulator

struct ReceiptFactoryTests {
    @Test("OpenSSL verifies the signature and the chain", arguments: SimulatorAuthority.ReceiptAlgorithm.allCases)
    func openSSL(algorithm: SimulatorAuthority.ReceiptAlgorithm) throws {
        let authority = try SimulatorAuthority(receipts: algorithm, now: .present)
        let receipt = try ReceiptFactory(authority: authority).receipt(.sample(targetSize: 8000))
        try withTemporaryFolder { folder in
            let files = ["receipt", "root", "payload"].map { folder.appending(path: $0) }
            try Data(receipt).write(to: files[0])
            try Data(authority.receiptRootPEM.utf8).write(to: files[1])
            let result = try openssl(
                "cms", "-verify", "-binary", "-inform", "DER", "-purpose", "any", "-in", files[0].path, "-CAfile",
                files[1].path, "-out", files[2].path)
            #expect(result.status == 0, "\(result.output)")
            let payload = Array(try Data(contentsOf: files[2]))
            #expect(try ReceiptPayload.receipt(from: payload[...]) == .sample())
        }
    }

    @Test("Sizes are met", arguments: [5000, 5100, 10_000, 20_000, 40_000, 70_000, 200_000])
    func sizes(size: Int) throws {
        let factory = try ReceiptFactory(authority: SimulatorAuthority.shared.get())
        let receipt = try factory.receipt(.sample(targetSize: size))
        #expect(abs(receipt.count - size) <= 32)
        #expect(try ReceiptPayload.receipt(from: SignedReceipt(bytes: receipt).payload) == .sample())
    }

    @Test("A size that is too small is exceeded")
    func smallSize() throws {
        let factory = try ReceiptFactory(authority: SimulatorAuthority.shared.get())
        let natural = try factory.receipt(.sample()).count
        #expect(abs(try factory.receipt(.sample(targetSize: 10)).count - natural) <= 4)
    }

    @Test("Base64 is what apps send")
    func base64() throws {
        let factory = try ReceiptFactory(authority: SimulatorAuthority.shared.get())
        let text = try factory.base64(.sample())
        let receipt = try #require(Data(base64Encoded: text))
        #expect(receipt.first == 0x30)
        #expect(!text.contains("\n"))
    }

    @Test("Limits are kept")
    func limits() throws {
        let factory = try ReceiptFactory(authority: SimulatorAuthority.shared.get())
        #expect(throws: ReceiptFactoryError.tooLarge(limit: ReceiptFactory.sizeLimit)) {
            try factory.receipt(.sample(targetSize: ReceiptFactory.sizeLimit + 1))
        }
        let many = [SimulatedPurchase](repeating: .gems(), count: ReceiptFactory.purchaseLimit + 1)
        #expect(throws: ReceiptFactoryError.tooManyPurchases(limit: ReceiptFactory.purchaseLimit)) {
            try factory.receipt(.sample(many))
        }
    }
}
