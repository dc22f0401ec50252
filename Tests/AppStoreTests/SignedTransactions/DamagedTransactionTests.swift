import Contract
import Scheduling
import Testing

@testable import AppStore

/// The compiler ensures that only a ``SignedTransactionError`` is thrown. The tests show that the verifier never
/// crashes and never believes unsigned content.
@Suite("Damaged signed transactions")
struct DamagedTransactionTests {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    @Test("another character of the alphabet anywhere, and the transaction does not verify", arguments: 0..<4)
    func everyPlace(seed: UInt64) throws {
        var generator = SplitMix64(seed: seed)
        let verifier = SignedTransactionVerifier(roots: try SignedToken.chain.roots())
        let text = Array(try SignedToken().text().utf8)
        _ = try verifier.verify(String(decoding: text, as: UTF8.self), now: Fixture.now)
        for index in stride(from: Int(seed), to: text.count, by: 8) where text[index] != UInt8(ascii: ".") {
            var damaged = text
            while damaged[index] == text[index] {
                damaged[index] = Self.alphabet.randomElement(using: &generator) ?? UInt8(ascii: "A")
            }
            #expect(verifier.result(String(decoding: damaged, as: UTF8.self)).value == nil, "at \(index)")
        }
    }

    @Test("bytes changed, taken out, doubled, cut off: what still verifies has every signed byte", arguments: 0..<8)
    func random(seed: UInt64) throws {
        var generator = SplitMix64(seed: seed)
        let verifier = SignedTransactionVerifier(roots: try SignedToken.chain.roots())
        let text = Array(try SignedToken().text().utf8)
        let signed = text[...(text.lastIndex(of: UInt8(ascii: ".")) ?? 0)]
        let expected = try verifier.verify(String(decoding: text, as: UTF8.self), now: Fixture.now)
        let interesting = Array(".=+/-_ \n\0\"{}[]\\".utf8) + [0x7F, 0x80, 0xC3, 0xFF]
        var verified = 0
        for _ in 0..<600 {
            let damaged = text.damaged(by: interesting, using: &generator)
            guard let transaction = verifier.result(String(decoding: damaged, as: UTF8.self)).value else { continue }
            verified += 1
            #expect(transaction == expected)
            let token = damaged.drop { $0 == 0x20 || (0x09...0x0D).contains($0) }
            #expect(token.starts(with: signed))
        }
        #expect((1..<600).contains(verified))
    }

    @Test("a payload that was changed and signed by nobody, however it reads", arguments: 0..<2)
    func forged(seed: UInt64) throws {
        var generator = SplitMix64(seed: seed)
        let verifier = SignedTransactionVerifier(roots: try SignedToken.chain.roots())
        let text = try SignedToken().text()
        _ = try verifier.verify(text, now: Fixture.now)
        let parts = text.split(separator: ".")
        for _ in 0..<50 {
            var payload = SignedToken.consumable
            payload.set("quantity", String(Int.random(in: 2...10, using: &generator)))
            payload.set("transactionId", "\"\(UInt32.random(in: 1...(.max), using: &generator))\"")
            let forged = SignedToken.base64URL(Array(SignedToken.object(payload).utf8))
            #expect(verifier.result("\(parts[0]).\(forged).\(parts[2])").error == .wrongSignature)
        }
    }

    @Test("signed payloads of random JSON never crash the reader", arguments: 0..<4)
    func signedJunk(seed: UInt64) throws {
        var generator = SplitMix64(seed: seed)
        let whole = Array(SignedToken.object(SignedToken.consumable).utf8)
        var readable = 0
        for _ in 0..<2_000 {
            var payload = whole
            for _ in 0..<Int.random(in: 0...4, using: &generator) {
                payload[.random(in: 0..<payload.count, using: &generator)] = .random(in: 0x20...0x7E, using: &generator)
            }
            if (try? SignedTransaction(payload: payload)) != nil { readable += 1 }
        }
        #expect((1..<2_000).contains(readable))
    }
}
