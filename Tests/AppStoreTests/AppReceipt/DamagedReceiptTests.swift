import Contract
import Testing

@testable import AppStore

/// Nothing but a typed error can come out (the compiler sees to that), so what is left is that it never crashes and never
/// believes what was not signed.
@Suite("Damaged receipts")
struct DamagedReceiptTests {
    @Test("one bit anywhere: what still verifies has every signed byte", arguments: 0..<8)
    func everyPlace(bit: Int) throws {
        let signing = try ReceiptSigning.rsa()
        let verifier = ReceiptVerifier(roots: signing.roots)
        let der = try signing.der()
        var verified = 0
        for index in stride(from: bit, to: der.count, by: 8) {
            var damaged = der
            damaged[index] ^= 1 << bit
            guard let receipt = try? AppReceipt(der: damaged), verifier.error(receipt) == nil else { continue }
            verified += 1
            #expect(receipt.signedData.payload == signing.builder.payload[...], "at \(index)")
        }
        // The root is not looked at, nor is what the container says of itself.
        #expect((1..<der.count / 16).contains(verified))
    }

    @Test("bytes changed, taken out, doubled, cut off, in DER and BER", arguments: 0..<16)
    func random(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var signing = try seed % 2 == 0 ? ReceiptSigning.rsa() : ReceiptSigning.p256()
        if seed % 4 > 1 { signing.attributes = ReceiptSigning.usual }
        let verifier = ReceiptVerifier(roots: signing.roots)
        let whole = try seed % 8 > 3 ? signing.ber() : signing.der()
        let interesting: [UInt8] = [0x00, 0x02, 0x04, 0x06, 0x24, 0x30, 0x31, 0x7f, 0x80, 0x81, 0xa0, 0xff]
        var verified = 0
        for _ in 0..<300 {
            var damaged = whole
            for _ in 0..<Int.random(in: 0...3, using: &generator) where !damaged.isEmpty {
                let index = Int.random(in: 0..<damaged.count, using: &generator)
                switch Int.random(in: 0..<6, using: &generator) {
                case 0: damaged[index] = .random(in: 0...255, using: &generator)
                case 1: damaged[index] = interesting.randomElement(using: &generator) ?? 0
                case 2: damaged.remove(at: index)
                case 3: damaged.insert(interesting.randomElement(using: &generator) ?? 0, at: index)
                case 4: damaged.insert(contentsOf: damaged[index...].prefix(64), at: index)
                default: damaged.removeLast(.random(in: 0..<damaged.count, using: &generator))
                }
            }
            guard let receipt = try? AppReceipt(der: damaged), verifier.error(receipt) == nil else { continue }
            verified += 1
            #expect(receipt.signedData.payload == signing.builder.payload[...])
        }
        #expect((1..<300).contains(verified))
    }

    @Test("a payload of another receipt under a genuine signature, whatever it says", arguments: 0..<20)
    func forged(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var signing = try ReceiptSigning.rsa()
        if seed % 2 == 0 { signing.attributes = ReceiptSigning.usual }
        let id = String(UInt32.random(in: 1...(.max), using: &generator))
        let forged = ReceiptBuilder.receipt(purchases: [ReceiptBuilder.purchase(transactionID: id)]).payload
        signing.alterPayload = { _ in forged }
        #expect(try signing.error() == (seed % 2 == 0 ? .wrongDigest : .wrongSignature))
    }
}
