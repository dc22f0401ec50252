import Contract
import Scheduling
import Testing

@testable import AppStore

/// The compiler ensures that only typed errors are thrown. The tests show that reading never crashes and never believes
/// unsigned content.
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
        // The root is not looked at, nor are the container's words about itself.
        #expect((1..<der.count / 16).contains(verified))
    }

    @Test("bytes changed, taken out, doubled, cut off, in DER and BER", arguments: 0..<16)
    func random(seed: UInt64) throws {
        var generator = SplitMix64(seed: seed)
        var signing = try seed % 2 == 0 ? ReceiptSigning.rsa() : ReceiptSigning.p256()
        if seed % 4 > 1 { signing.attributes = ReceiptSigning.usual }
        let verifier = ReceiptVerifier(roots: signing.roots)
        let whole = try seed % 8 > 3 ? signing.ber() : signing.der()
        let interesting: [UInt8] = [0x00, 0x02, 0x04, 0x06, 0x24, 0x30, 0x31, 0x7f, 0x80, 0x81, 0xa0, 0xff]
        var verified = 0
        for _ in 0..<300 {
            let damaged = whole.damaged(by: interesting, using: &generator)
            guard let receipt = try? AppReceipt(der: damaged), verifier.error(receipt) == nil else { continue }
            verified += 1
            #expect(receipt.signedData.payload == signing.builder.payload[...])
        }
        #expect((1..<300).contains(verified))
    }

    @Test("a payload of another receipt under a genuine signature, whatever it says", arguments: 0..<20)
    func forged(seed: UInt64) throws {
        var generator = SplitMix64(seed: seed)
        var signing = try ReceiptSigning.rsa()
        if seed % 2 == 0 { signing.attributes = ReceiptSigning.usual }
        let id = String(UInt32.random(in: 1...(.max), using: &generator))
        let forged = ReceiptBuilder.receipt(purchases: [ReceiptBuilder.purchase(transactionID: id)]).payload
        signing.alterPayload = { _ in forged }
        #expect(try signing.error() == (seed % 2 == 0 ? .wrongDigest : .wrongSignature))
    }
}

/// The reader goes from header to header and builds nothing. A tree of all values must give the same result for every
/// receipt, damaged ones included.
@Suite("Receipts read without a tree")
struct ReceiptByTreeTests {
    @Test("whole receipts in every form that BER has for them", arguments: 0..<8)
    func forms(seed: UInt64) throws {
        var variation = BERVariation(seed: seed)
        for whole in try Self.receipts() {
            let expected = try ReceiptByTree(tree: whole)
            for _ in 0..<20 {
                let bytes = variation.vary(whole)
                let read = try ReceiptByTree(read: bytes)
                #expect(read == (try ReceiptByTree(tree: bytes)))
                // Every form has the same content.
                #expect(read.payload == expected.payload && read.attributes == expected.attributes)
            }
        }
    }

    @Test("damaged receipts: bytes changed, taken out, put in, doubled, cut off", arguments: 0..<8)
    func damaged(seed: UInt64) throws {
        var generator = SplitMix64(seed: seed)
        var variation = BERVariation(seed: seed)
        var outcomes: [AppReceiptError?: Int] = [:]
        for whole in try Self.receipts() {
            for round in 0..<200 {
                let bytes = Self.damage(round % 2 == 0 ? whole : variation.vary(whole), &generator)
                let read = Result { () throws(AppReceiptError) in try ReceiptByTree(read: bytes) }
                let byTree = Result { () throws(AppReceiptError) in try ReceiptByTree(tree: bytes) }
                #expect(read == byTree, "\(seed), \(round)")
                outcomes[byTree.error, default: 0] += 1
            }
        }
        // Otherwise the damage would show nothing.
        for outcome in [nil, AppReceiptError.notASN1, .notSignedData, .notReceiptAttributes] {
            #expect(outcomes[outcome, default: 0] > 0)
        }
    }

    /// As Apple writes them, as Xcode does, with certificates and without.
    private static func receipts() throws -> [[UInt8]] {
        let builder = ReceiptBuilder.receipt(purchases: [ReceiptBuilder.purchase(), ReceiptBuilder.purchase()])
        var signing = try ReceiptSigning.rsa()
        signing.attributes = ReceiptSigning.usual
        return [builder.der, builder.ber, try signing.der(), try signing.ber()]
    }

    private static func damage(_ whole: [UInt8], _ generator: inout SplitMix64) -> [UInt8] {
        let interesting: [UInt8] = [
            0x00, 0x01, 0x02, 0x04, 0x06, 0x11, 0x1f, 0x20, 0x24, 0x30, 0x31, 0x3f, 0x7f, 0x80, 0x81, 0x84, 0x88, 0x89,
            0xa0, 0xff,
        ]
        var bytes = whole
        for _ in 0..<Int.random(in: 1...3, using: &generator) where !bytes.isEmpty {
            // Half of the damage is done where the structure is: most of a receipt's bytes are certificates.
            let end = Bool.random(using: &generator) ? bytes.count : min(bytes.count, 80)
            let index = Int.random(in: 0..<end, using: &generator)
            switch Int.random(in: 0..<8, using: &generator) {
            case 0: bytes[index] = .random(in: 0...255, using: &generator)
            case 1, 2: bytes[index] = interesting.randomElement(using: &generator) ?? 0
            case 3: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            case 4: bytes.remove(at: index)
            case 5: bytes.insert(interesting.randomElement(using: &generator) ?? 0, at: index)
            case 6: bytes.insert(contentsOf: bytes[index...].prefix(64), at: index)
            default: bytes.removeLast(.random(in: 0...min(bytes.count, 40), using: &generator))
            }
        }
        return bytes
    }
}
