import Contract
import FoundationEssentials
import Scheduling
import Testing

@testable import AppStore

@Suite("Base64 in blocks")
struct Base64BlocksTests {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    @Test("takes every character of the alphabet at every place, and no other", arguments: 0..<16)
    func everyCharacter(place: Int) {
        for character in UInt8.min...UInt8.max {
            var text = Array(Self.alphabet[8..<40])
            text[16 + place] = character
            let decoded = Base64Blocks.decode(text[...], blocks: 2, .standard).map { Data($0.prefix(24)) }
            let isKnown = Self.alphabet.contains(character)
            #expect(decoded == (isKnown ? Data(base64Encoded: Data(text)) : nil))
        }
    }

    @Test("takes the URL-safe alphabet where that is asked for, and not the other one's characters")
    func urlSafe() {
        for (character, value) in [(UInt8(ascii: "-"), UInt8(62)), (UInt8(ascii: "_"), 63)] {
            let text = [UInt8](repeating: UInt8(ascii: "A"), count: 15) + [character]
            #expect(Base64Blocks.decode(text[...], blocks: 1, .urlSafe)?[11] == value)
            #expect(Base64Blocks.decode(text[...], blocks: 1, .standard) == nil)
        }
        for character in "+/= ".utf8 {
            let text = [UInt8](repeating: UInt8(ascii: "A"), count: 15) + [character]
            #expect(Base64Blocks.decode(text[...], blocks: 1, .urlSafe) == nil)
        }
    }

    @Test("leaves what stands behind the blocks alone, and room for it", arguments: 0...3)
    func rest(blocks: Int) throws {
        let text = (Self.alphabet[..<(16 * blocks)] + Array("*==*".utf8))[...]
        let decoded = try #require(Base64Blocks.decode(text, blocks: blocks, .standard))
        #expect(decoded.count == 12 * blocks + 5)
        #expect(Data(decoded.prefix(12 * blocks)) == Data(base64Encoded: Data(text.dropLast(4))))
    }
}

@Suite("Base64 of a JWS")
struct JWSBase64Tests {
    private func decode(_ text: String) -> [UInt8]? { Base64URL.decode(Array(text.utf8)[...]) }

    @Test("bytes of every length come back", arguments: 0..<70)
    func roundTrip(count: Int) {
        var generator = SplitMix64(seed: UInt64(count))
        let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
        #expect(decode(SignedToken.base64URL(bytes)) == bytes)
    }

    @Test("a slice of a longer text is read from its own start to its own end")
    func slice() {
        let text = Array("....-_-_....".utf8)
        #expect(Base64URL.decode(text[4..<8]) == [0xFB, 0xFF, 0xBF])
    }

    @Test(
        "other alphabets, padding, white space, impossible lengths and last bits that no encoder writes are refused",
        arguments: [
            "+_-_", "/_-_", "AA==", "AAA=", "AA A", "A A", "AA\n", "A", "AAAAA", "AB", "AAB", "AA.A", "ÄA", "A\u{0}",
        ])
    func refused(text: String) {
        #expect(decode(text) == nil)
    }
}
